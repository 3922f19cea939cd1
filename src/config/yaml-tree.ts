import { type Alias, isAlias, isMap, isScalar, isSeq, type YAMLMap } from 'yaml';
import type { Problem } from '#core/problem.ts';
import { joinPath } from './keys.ts';
import { problemAt } from './problem.ts';
import type { ConfigNode, Entry, Place } from './tree.ts';

export interface DocumentLimits {
  readonly bytes: number;
  readonly depth: number;
  /** How many nodes aliases may add: a few lines of YAML could otherwise unfold into billions. */
  readonly aliased: number;
}

interface TreeReader {
  readonly problems: Problem[];
  read(node: unknown, path: string, depth: number): ConfigNode;
}

/** Makes trees of parsed YAML, within limits; what is wrong is gathered in `problems`. */
export function treeReader(limits: DocumentLimits, placeOf: (offset: number) => Place): TreeReader {
  const problems: Problem[] = [];
  const anchors = new Map<string, { node: ConfigNode; size: number }>();
  let size = 0;
  let aliased = 0;

  const startOf = (node: unknown): Place | undefined => {
    const range = (node as { range?: readonly number[] | null } | null)?.range;
    return range?.[0] === undefined ? undefined : placeOf(range[0]);
  };

  function nothing(path: string, node: unknown, message: string): ConfigNode {
    problems.push(problemAt(path, startOf(node), message));
    return { is: 'scalar', value: null };
  }

  function read(node: unknown, path: string, depth: number): ConfigNode {
    if (depth > limits.depth) return nothing(path, node, `is nested deeper than ${limits.depth} levels`);
    const sizeBefore = size++;
    const made = isAlias(node) ? readAlias(node, path) : readPlain(node, path, depth);
    const anchor = (node as { anchor?: string } | null)?.anchor;
    if (anchor) anchors.set(anchor, { node: made, size: size - sizeBefore });
    return made;
  }

  function readAlias(alias: Alias, path: string): ConfigNode {
    const target = anchors.get(alias.source);
    if (!target) return nothing(path, alias, `*${alias.source} stands for nothing that is complete before it`);
    size += target.size;
    aliased += target.size;
    if (aliased > limits.aliased) return nothing(path, alias, `aliases unfold into more than ${limits.aliased} values`);
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

const refusalOf = (key: string): string => (key === '__proto__' ? 'cannot be a key' : 'stands here a second time');
