// Which fields somebody owns, in the form of `managedFields`: https://kubernetes.io/docs/reference/using-api/server-side-apply
import type { Resource } from '../api/resource.ts';
import { type Fields, fieldsOf, isFields, isSame } from '../objects/object.ts';

/** Paths as JSON lists of steps: `f:name` a field, `k:{…}` an item by its keys, `v:…` an item of a set, `.` the item itself. */
export type FieldSet = ReadonlySet<string>;

type Rule = Resource['listRule'];
type Leaves = Map<string, unknown>;

const pathText = (steps: readonly string[]): string => JSON.stringify(steps);
export const stepsOf = (path: string): readonly string[] => JSON.parse(path) as string[];

export const itemStep = (item: unknown, keys: readonly string[]): string =>
  `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, fieldsOf(item)[key]])))}`;

const fieldNames = (steps: readonly string[]): string[] =>
  steps.filter((step) => step.startsWith('f:')).map((step) => step.slice(2));

function walkList(list: readonly unknown[], steps: readonly string[], rule: Rule, leaves: Leaves): void {
  const how = rule(fieldNames(steps));
  if (how === undefined) {
    leaves.set(pathText(steps), list);
    return;
  }
  for (const item of list) {
    if (how === 'set') {
      leaves.set(pathText([...steps, `v:${JSON.stringify(item)}`]), item);
      continue;
    }
    const at = [...steps, itemStep(item, how.keys)];
    leaves.set(pathText([...at, '.']), true);
    walk(item, at, rule, leaves);
  }
}

function walk(value: unknown, steps: readonly string[], rule: Rule, leaves: Leaves): void {
  if (Array.isArray(value)) return walkList(value, steps, rule, leaves);
  if (!isFields(value) || Object.keys(value).length === 0) return void leaves.set(pathText(steps), value);
  for (const [key, below] of Object.entries(value)) walk(below, [...steps, `f:${key}`], rule, leaves);
}

const UNOWNED_META = new Set([
  'name',
  'namespace',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
]);

/** Every field that can be owned, with its value. */
export function leavesOf(object: Fields, { listRule, hasStatus }: Resource, subresource: string | undefined): Leaves {
  const leaves: Leaves = new Map();
  const { apiVersion: _version, kind: _kind, metadata, status, ...rest } = object;
  const ownMeta = Object.entries(fieldsOf(metadata)).filter(([key]) => !UNOWNED_META.has(key));
  const isStatusCall = subresource === 'status';
  const owned: Record<string, unknown> = isStatusCall ? {} : { ...rest };
  if (ownMeta.length > 0 && !isStatusCall) owned.metadata = Object.fromEntries(ownMeta);
  if (status !== undefined && (isStatusCall || !hasStatus)) owned.status = status;
  if (Object.keys(owned).length > 0) walk(owned, [], listRule, leaves);
  return leaves;
}

/** What differs: paths that are new or have another value, and paths that are gone. */
export function differences(before: Leaves, after: Leaves): { changed: Set<string>; removed: Set<string> } {
  const changed = [...after].filter(([path, value]) => !before.has(path) || !isSame(before.get(path), value));
  const removed = [...before.keys()].filter((path) => !after.has(path));
  return { changed: new Set(changed.map(([path]) => path)), removed: new Set(removed) };
}

/** As `fieldsV1` has it. */
export function encodeSet(set: FieldSet): Fields {
  const root: Record<string, unknown> = {};
  for (const path of [...set].sort()) {
    let at = root;
    for (const step of stepsOf(path)) {
      at[step] ??= {};
      at = at[step] as Record<string, unknown>;
    }
  }
  return root;
}

export function decodeSet(fields: unknown, steps: readonly string[] = [], made = new Set<string>()): Set<string> {
  for (const [step, below] of Object.entries(fieldsOf(fields))) {
    const at = [...steps, step];
    if (Object.keys(fieldsOf(below)).length === 0) made.add(pathText(at));
    else decodeSet(below, at, made);
  }
  return made;
}

/** `.spec.containers[name="agent"].image`, as conflicts name a field. */
export function shownPath(path: string): string {
  return stepsOf(path)
    .filter((step) => step !== '.')
    .map((step) => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`;
      if (step.startsWith('v:')) return `[=${step.slice(2)}]`;
      const keys = Object.entries(JSON.parse(step.slice(2)) as Fields);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}
