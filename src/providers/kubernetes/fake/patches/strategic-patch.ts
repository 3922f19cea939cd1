// Strategic merge patch: a merge patch that knows by which key the items of a list are the same.
import type { ListRule, Resource } from '../api/resource.ts';
import { type Fields, fieldsOf, isFields, isSame, listOf } from '../objects/object.ts';

type Rule = Resource['listRule'];

const ORDER = '$setElementOrder/';
const DELETE_PRIMITIVES = '$deleteFromPrimitiveList/';

const sameItem = (keys: readonly string[], a: unknown, b: unknown): boolean =>
  keys.every((key) => isSame(fieldsOf(a)[key], fieldsOf(b)[key]));

const withoutDirective = ({ $patch: _gone, ...rest }: Fields): Fields => rest;

function mergeItems(
  target: readonly unknown[],
  patch: readonly unknown[],
  keys: readonly string[],
  merge: (target: unknown, patch: unknown) => unknown,
): unknown[] {
  if (patch.some((item) => fieldsOf(item).$patch === 'replace')) {
    return patch.filter((item) => fieldsOf(item).$patch !== 'replace');
  }
  let made = [...target];
  for (const item of patch) {
    const at = made.findIndex((one) => sameItem(keys, one, item));
    if (fieldsOf(item).$patch === 'delete') made = made.filter((one) => !sameItem(keys, one, item));
    else if (at >= 0) made[at] = merge(made[at], item);
    else made.push(merge(undefined, item));
  }
  return made;
}

/** Items in the order that the patch names; what it does not name keeps its place at the end. */
function inOrder(items: readonly unknown[], order: readonly unknown[], keys: readonly string[]): unknown[] {
  const place = (item: unknown): number => {
    const at = order.findIndex((one) => (keys.length > 0 ? sameItem(keys, one, item) : isSame(one, item)));
    return at < 0 ? order.length : at;
  };
  return items.toSorted((a, b) => place(a) - place(b));
}

const keysOf = (rule: ListRule): readonly string[] => (rule && rule !== 'set' ? rule.keys : []);

function mergeList(target: unknown, patch: readonly unknown[], rule: Rule, path: readonly string[]): unknown {
  const how = rule(path);
  if (how === undefined) return patch;
  if (how === 'set') return [...new Set([...listOf(target), ...patch])];
  return mergeItems(listOf(target), patch, how.keys, (a, b) => merge(a, b, rule, path));
}

/** What the keys that begin with `$` ask for, after the rest is merged. */
function direct(made: Record<string, unknown>, patch: Fields, rule: Rule, path: readonly string[]): void {
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(DELETE_PRIMITIVES)) {
      const list = key.slice(DELETE_PRIMITIVES.length);
      made[list] = listOf(made[list]).filter((item) => !listOf(value).includes(item));
    }
  }
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith(ORDER)) continue;
    const list = key.slice(ORDER.length);
    if (made[list] !== undefined)
      made[list] = inOrder(listOf(made[list]), listOf(value), keysOf(rule([...path, list])));
  }
}

function merge(target: unknown, patch: unknown, rule: Rule, path: readonly string[]): unknown {
  if (Array.isArray(patch)) return mergeList(target, patch, rule, path);
  if (!isFields(patch)) return patch;
  if (patch.$patch === 'replace') return withoutDirective(patch);
  if (patch.$patch === 'delete') return {};
  const retained = patch.$retainKeys;
  const kept = Object.entries(fieldsOf(target)).filter(([key]) => !retained || listOf(retained).includes(key));
  const made: Record<string, unknown> = Object.fromEntries(kept);
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) continue;
    if (value === null) delete made[key];
    else made[key] = merge(made[key], value, rule, [...path, key]);
  }
  direct(made, patch, rule, path);
  return made;
}

export const strategicPatch = (target: unknown, patch: unknown, { listRule }: Resource): unknown =>
  merge(target, patch, listRule, []);
