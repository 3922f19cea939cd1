import { canonicalJson } from './canonical.ts';
import { joinPath } from './keys.ts';

/** A document whole, to compare, and as it may be shown. */
export interface Comparable {
  readonly whole: unknown;
  readonly shown: unknown;
}

/** One key in which two documents differ; a value that may not be shown is absent. */
export interface Difference {
  /** As users write it: `auto_scaler.max_agents`. */
  readonly key: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

type Tree = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
const inside = (value: unknown, key: string | number): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[key] : undefined;

/** Where two documents differ, as deep as maps and lists of one length go. */
export function differences(before: Comparable, after: Comparable, path = ''): readonly Difference[] {
  if (canonicalJson(before.whole) === canonicalJson(after.whole)) return [];
  const steps = stepsInto(before.whole, after.whole);
  if (!steps) return [{ key: path, before: before.shown, after: after.shown }];
  const at = ({ whole, shown }: Comparable, step: string | number): Comparable => ({
    whole: inside(whole, step),
    shown: inside(shown, step),
  });
  return steps.flatMap((step) => differences(at(before, step), at(after, step), joinPath(path, step)));
}

/** The keys by which both can be compared further; nothing where they are compared as wholes. */
function stepsInto(before: unknown, after: unknown): readonly (string | number)[] | undefined {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) return [...before.keys()];
  const maps = [before, after].filter(isMap);
  const others = [before, after].filter((value) => !isMap(value));
  if (maps.length === 0 || others.some((value) => value !== undefined)) return undefined;
  const keys = new Set(maps.flatMap((map) => Object.keys(map)));
  return keys.size === 0 ? undefined : [...keys];
}
