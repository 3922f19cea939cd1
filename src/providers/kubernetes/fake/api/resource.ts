import type { Fields, KubeObject } from '../objects/object.ts';
import type { Cause } from '../wire/cause.ts';

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** Above 0: only with `-o wide`. */
  readonly priority: number;
  cell(object: KubeObject, nowMs: number): unknown;
}

/** How the lists of a resource are merged: by the key of their items, or as sets; what is not named is replaced whole. */
export type ListRule = { readonly keys: readonly string[] } | 'set' | undefined;

/** One kind of objects that the API server serves, in one version. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly hasStatus: boolean;
  /** A new object keeps the status that it came with: kubelets register their nodes with one. */
  readonly takesStatus?: true | undefined;
  /** Whether `metadata.generation` grows with each change of what is no status. */
  readonly countsGenerations: boolean;
  /** A custom resource takes no strategic merge patch, and needs a resourceVersion for a PUT. */
  readonly isCustom: boolean;
  readonly columns: readonly Column[];
  /** Paths that field selectors may name, beside name and namespace. */
  readonly selectable: readonly (readonly string[])[];
  /** OpenAPI schema; absent where any field is taken. */
  readonly schema?: Fields | undefined;
  listRule(path: readonly string[]): ListRule;
  /** Fills in what the API server sets by itself; with the object that is replaced. */
  prepare?(draft: KubeObject, old: KubeObject | undefined): KubeObject;
  /** What is wrong with it, in the API server's words. */
  check?(draft: KubeObject, old: KubeObject | undefined): readonly Cause[];
  /** Set where two groups serve the same objects. */
  readonly storage?: string | undefined;
  /** Between the form that is kept and the form that is served. */
  readonly conversion?:
    | { toStored(object: KubeObject): KubeObject; toServed(object: KubeObject): KubeObject }
    | undefined;
}

/** Where the objects of a resource are kept: versions share them. */
export const storageOf = ({ group, plural, storage }: Pick<Resource, 'group' | 'plural' | 'storage'>): string =>
  storage ?? `${group}/${plural}`;

export const apiVersionOf = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;
