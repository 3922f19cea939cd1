// Objects as the API server sends them. Fields that we do not know stay in them.

/** What every object of a cluster bears. */
export interface KubeMetadata {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  /** Opaque: good for comparing with itself and for going on from there. */
  readonly resourceVersion?: string | undefined;
  /** Rises with each change of the spec. */
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly [field: string]: unknown;
}

/** One object of a cluster, whole. */
export interface KubeObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata: KubeMetadata;
  readonly [field: string]: unknown;
}

/** Which object of a resource; without a namespace for those that have none. */
export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `namespace/name`; `/name` where the object is in no namespace. */
export const keyOfObject = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** The object without the record of who wrote which field, which is often half of it. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
