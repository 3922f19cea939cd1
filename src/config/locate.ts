import { isKey, joinPath, toCamel, toSnake } from './keys.ts';
import type { ConfigNode, TextPlace } from './tree.ts';

/** Where something stands in a document, in the words of its writer. */
export interface Located {
  readonly path: string;
  readonly place: TextPlace | undefined;
  /** Absent where nothing stands there. */
  readonly node: ConfigNode | undefined;
}

/**
 * Finds what a path of schema keys names; what is missing is placed at the map that should hold it. `under` is where the
 * root itself stands in its document.
 */
export function locate(root: ConfigNode, keys: readonly PropertyKey[], under = ''): Located {
  let found: Located = { path: under, place: root.place, node: root };
  for (const key of keys) {
    const { node, path, place } = found;
    if (node?.is === 'map') {
      const entry = node.entries.find((candidate) => isKey(candidate.key, String(key)));
      if (entry)
        found = { path: joinPath(path, entry.key), place: entry.value.place ?? entry.place, node: entry.value };
      else found = { path: joinPath(path, spelledLike(node.entries, String(key))), place, node: undefined };
    } else {
      const item = node?.is === 'list' && typeof key === 'number' ? node.items[key] : undefined;
      const step = typeof key === 'number' ? key : toSnake(String(key));
      found = { path: joinPath(path, step), place: item?.place ?? place, node: item };
    }
  }
  return found;
}

/** In camelCase where its neighbours are, otherwise as the documentation has it. */
function spelledLike(neighbours: readonly { readonly key: string }[], key: string): string {
  const isCamel =
    neighbours.some((entry) => /[a-z][A-Z]/.test(entry.key)) && !neighbours.some((entry) => entry.key.includes('_'));
  return isCamel ? toCamel(key) : toSnake(key);
}
