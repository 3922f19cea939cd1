/** Any map of JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

/** The wire's word for who wrote a field; in code it is the owner. */
export const OWNER_KEY = 'manager';

export interface ManagedFields {
  readonly [OWNER_KEY]: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time?: string;
  readonly fieldsType: 'FieldsV1';
  readonly fieldsV1: Fields;
  readonly subresource?: string;
}

export interface Meta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** An object as the API server keeps it: never changed, only replaced. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Meta;
  readonly spec?: Fields;
  readonly status?: Fields;
  readonly [field: string]: unknown;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What stands at a path; undefined where the way ends before. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) at = isFields(at) ? at[key] : undefined;
  return at;
}

/** The time as the API writes it: without fractions of a second. */
export const timestamp = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 19)}Z`;

/** The time of events and leases, to the microsecond. */
export const microTime = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 23)}000Z`;

/** Whether two values are the same JSON; the order of keys does not count. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((value, index) => isSame(value, b[index]));
  }
  if (!isFields(a) || !isFields(b)) return false;
  const [ours, theirs] = [a, b].map((one) => Object.keys(one).filter((key) => one[key] !== undefined)) as [
    string[],
    string[],
  ];
  return ours.length === theirs.length && ours.every((key) => isSame(a[key], b[key]));
}

/** Without keys whose value is undefined, as JSON would have it. */
export const compact = <T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };

const TEXTS = new WeakMap<object, string>();

/** The JSON of an object that is never changed: written once, whoever asks. */
export function textOfObject(object: object): string {
  const known = TEXTS.get(object);
  if (known !== undefined) return known;
  const text = JSON.stringify(object);
  TEXTS.set(object, text);
  return text;
}
