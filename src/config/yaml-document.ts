// Reads YAML or JSON into a tree in which each value knows its place.
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import { joinPath } from './keys.ts';
import { MOST_PROBLEMS, type Parsed, problemAt } from './problem.ts';
import type { ConfigNode, Entry, TextPlace } from './tree.ts';

export interface DocumentLimits {
  readonly bytes: number;
  readonly depth: number;
  /** How many nodes aliases may add: a few lines of YAML could otherwise unfold into billions. */
  readonly aliased: number;
  /** How many values it may have in all: each is compared with a schema on the event loop. */
  readonly values: number;
}

/** For the operator's own file: room for ten thousand pools. */
export const OPERATOR_LIMITS: DocumentLimits = {
  bytes: 16 * 2 ** 20,
  depth: 64,
  aliased: 200_000,
  values: Number.POSITIVE_INFINITY,
};
/** For one document from outside: parsing it must not hold up the process. */
export const FOREIGN_LIMITS: DocumentLimits = { bytes: 256 * 2 ** 10, depth: 64, aliased: 5_000, values: 5_000 };

/** Reads YAML or JSON, each value with its place; refuses anything ambiguous. */
export function readYaml(text: string, limits: DocumentLimits = OPERATOR_LIMITS): Parsed<ConfigNode> {
  const why = whyNoDocument(text, limits);
  if (why !== undefined) return refuse(why);
  try {
    return parseYaml(text, limits);
  } catch (thrown) {
    // The parser overflows the stack on extreme nesting.
    return refuse(`the document cannot be read: ${Fault.from(thrown).message}`);
  }
}

/** What is refused before any reader looks at it. */
export function whyNoDocument(text: string, limits: DocumentLimits): string | undefined {
  if (Buffer.byteLength(text) > limits.bytes) return `the document is larger than ${limits.bytes / 1024} KiB`;
  const [odd] = NO_TEXT.exec(text) ?? [];
  return odd === undefined ? undefined : `the document is not text: it contains the character ${nameOf(odd)}`;
}

const NO_TEXT = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

const nameOf = (character: string): string => `U+${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function refuse(message: string): Parsed<ConfigNode> {
  return { problems: [problemAt('', undefined, message)], warnings: [] };
}

function parseYaml(text: string, limits: DocumentLimits): Parsed<ConfigNode> {
  const lines = new LineCounter();
  // Its own check for equal keys takes quadratic time; ours is in `readMap`.
  const options = {
    lineCounter: lines,
    uniqueKeys: false,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'silent',
  } as const;
  const documents: readonly Document.Parsed[] = parseAllDocuments(text, options);
  const placeOf = (offset: number): TextPlace => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // A marker with nothing behind it makes an empty document, by accident.
  const [document, second] = documents.filter(({ contents }) => !isNothing(contents));
  const faulty = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const problems = faulty.slice(0, 20).map((error) => problemAt('', placeOf(error.pos[0]), yamlMessage(error)));
  if (second && problems.length === 0) {
    problems.push(
      problemAt('', placeOf(second.range?.[0] ?? 0), 'a second document begins here; write one document per file'),
    );
  }
  if (problems.length > 0) return { problems, warnings: [] };
  if (!document) return { value: { is: 'scalar', value: null }, warnings: [] };
  const reader = treeReader(limits, placeOf);
  const value = reader.read(document.contents, '', 0);
  return reader.problems.length > 0 ? { problems: reader.problems, warnings: [] } : { value, warnings: [] };
}

const isNothing = (contents: unknown): boolean => contents === null || (isScalar(contents) && contents.source === '');

function yamlMessage({ code, message }: YAMLError): string {
  if (code === 'NON_STRING_KEY') return 'keys must be plain text';
  if (code === 'TAG_RESOLVE_FAILED') return `${message}; write plain values without tags`;
  return `this is not YAML: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

interface TreeReader {
  readonly problems: Problem[];
  read(node: unknown, path: string, depth: number): ConfigNode;
}

/** Makes trees of parsed YAML, within limits; what is wrong is gathered in `problems`. */
export function treeReader(limits: DocumentLimits, placeOf: (offset: number) => TextPlace): TreeReader {
  const problems: Problem[] = [];
  const anchors = new Map<string, { node: ConfigNode; size: number }>();
  let size = 0;
  let aliased = 0;

  const startOf = (node: unknown): TextPlace | undefined => {
    const range = (node as { range?: readonly number[] | null } | null)?.range;
    return range?.[0] === undefined ? undefined : placeOf(range[0]);
  };

  function nothing(path: string, node: unknown, message: string): ConfigNode {
    if (problems.length < MOST_PROBLEMS) problems.push(problemAt(path, startOf(node), message));
    return { is: 'scalar', value: null };
  }

  function read(node: unknown, path: string, depth: number): ConfigNode {
    if (depth > limits.depth) return nothing(path, node, `is nested deeper than ${limits.depth} levels`);
    const sizeBefore = size++;
    if (size === limits.values + 1) nothing('', node, `has more than ${limits.values} values`);
    if (size > limits.values) return { is: 'scalar', value: null };
    const made = isAlias(node) ? readAlias(node, path) : readPlain(node, path, depth);
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor) anchors.set(anchor, { node: made, size: size - sizeBefore });
    return made;
  }

  function readAlias(alias: Alias, path: string): ConfigNode {
    const target = anchors.get(alias.source);
    if (!target) return nothing(path, alias, `*${alias.source} has no complete anchor before it`);
    size += target.size;
    aliased += target.size;
    if (aliased > limits.aliased) return nothing(path, alias, `aliases expand to more than ${limits.aliased} values`);
    return target.node;
  }

  function readPlain(node: unknown, path: string, depth: number): ConfigNode {
    const place = startOf(node);
    if (isMap(node)) return { is: 'map', place, entries: readMap(node, path, depth) };
    if (isSeq(node)) {
      return { is: 'list', place, items: node.items.map((item, at) => read(item, joinPath(path, at), depth + 1)) };
    }
    if (!isScalar(node)) return { is: 'scalar', place, value: null };
    const { value, source } = node;
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) {
      return { is: 'scalar', place, value: value as string | number | boolean | null, source };
    }
    return nothing(path, node, 'must be text, a number, true or false');
  }

  function readMap(map: YAMLMap, path: string, depth: number): readonly Entry[] {
    const entries = new Map<string, Entry>();
    const merged: Entry[] = [];
    for (const { key: keyNode, value: valueNode } of map.items) {
      const key = isScalar(keyNode) ? String(keyNode.value) : '';
      const at = joinPath(path, key);
      const value = read(valueNode, at, depth + 1);
      if (isMergeKey(keyNode)) merged.push(...mergedEntries(value, at, keyNode));
      else if (entries.has(key) || key === '__proto__') nothing(at, keyNode, refusalOf(key));
      else entries.set(key, { key, value, place: startOf(keyNode) });
    }
    return [...entries.values(), ...merged.filter((entry) => !entries.has(entry.key))];
  }

  function mergedEntries(value: ConfigNode, path: string, keyNode: unknown): readonly Entry[] {
    const parts = value.is === 'list' ? value.items : [value];
    const maps = parts.filter((part) => part.is === 'map');
    if (maps.length < parts.length) nothing(path, keyNode, 'must be an alias of a map, or a list of such');
    const byKey = new Map(
      maps
        .flatMap((map) => map.entries)
        .toReversed()
        .map((entry) => [entry.key, entry]),
    );
    return [...byKey.values()];
  }

  return { problems, read };
}

const isMergeKey = (node: unknown): boolean => isScalar(node) && node.type === 'PLAIN' && node.value === '<<';

const refusalOf = (key: string): string => (key === '__proto__' ? 'cannot be a key' : 'is here a second time');
