// Merging of maps as the Go library mergo does it for Sprig.
import type { RenderBudget } from '../limits.ts';
import { GoMap, GoSlice, isTrue, type Value } from '../value/value.ts';

const isNil = (value: Value): boolean => value === null || value === undefined;

/** Merges one entry of the source; true where nothing more is to be done for it. */
function mergeComposite(target: GoMap, key: string, from: Value, overwrites: boolean, budget: RenderBudget): boolean {
  const into = target.entries.get(key);
  if (from instanceof GoMap && into instanceof GoMap) mergeInto(into, from, overwrites, budget);
  if (from instanceof GoSlice) {
    if (overwrites || target.entries.size === 0) target.entries.set(key, from);
    if (isTrue(into)) return true;
  }
  return from instanceof GoMap && into instanceof GoMap && into.entries.size > 0;
}

/** Adds what the target lacks or has empty; overwriting, also what it has. Maps within are merged, lists replaced. */
export function mergeInto(target: GoMap, source: GoMap, overwrites: boolean, budget: RenderBudget): void {
  budget.step();
  for (const key of source.sortedKeys()) {
    budget.step();
    const from = source.entries.get(key);
    if (isNil(from)) {
      if (overwrites) target.entries.set(key, null);
      continue;
    }
    const into = target.entries.get(key);
    if (mergeComposite(target, key, from, overwrites, budget)) continue;
    if (overwrites || !isTrue(into)) target.entries.set(key, from);
  }
}
