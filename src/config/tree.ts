// A document as it was written, with the place of each value, before any schema is applied.

export type TextPlace = { readonly line: number; readonly column: number };

interface Placed {
  /** Absent where the value did not come from a text. */
  readonly place?: TextPlace | undefined;
}

export interface ScalarNode extends Placed {
  readonly is: 'scalar';
  readonly value: string | number | boolean | null;
  /** The characters as they stand in the text. */
  readonly source?: string | undefined;
}

export interface ListNode extends Placed {
  readonly is: 'list';
  readonly items: readonly ConfigNode[];
}

export interface Entry extends Placed {
  readonly key: string;
  readonly value: ConfigNode;
}

export interface MapNode extends Placed {
  readonly is: 'map';
  readonly entries: readonly Entry[];
}

export type ConfigNode = ScalarNode | ListNode | MapNode;

/** A value that is already plain data (a request's body) as a tree; what has no place in a document becomes text. */
export function nodeOf(value: unknown): ConfigNode {
  if (Array.isArray(value)) return { is: 'list', items: value.map(nodeOf) };
  if (typeof value === 'object' && value !== null) {
    const defined = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return { is: 'map', entries: defined.map(([key, inner]) => ({ key, value: nodeOf(inner) })) };
  }
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (isPlain) return { is: 'scalar', value };
  return { is: 'scalar', value: value === undefined || value === null ? null : String(value) };
}

/** What the tree holds, as plain data and without any meaning given to it. */
export function plain(node: ConfigNode): unknown {
  if (node.is === 'scalar') return node.value;
  if (node.is === 'list') return node.items.map(plain);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
}

/** The value under a key of the tree, by either spelling. */
export function child(node: ConfigNode, ...spellings: readonly string[]): ConfigNode | undefined {
  if (node.is !== 'map') return undefined;
  return node.entries.find(({ key }) => spellings.includes(key))?.value;
}
