import { plainText } from '../fmt/print.ts';
import type { RenderBudget } from '../limits.ts';
import { Float, GoMap, GoSlice, Int, typeName, type Value } from './value.ts';

function equalMaps(a: GoMap, b: GoMap, budget: RenderBudget): boolean {
  if (a.isNil !== b.isNil || a.entries.size !== b.entries.size) return false;
  for (const [key, value] of a.entries) {
    if (!b.entries.has(key) || !deepEqual(value, b.entries.get(key), budget)) return false;
  }
  return true;
}

const equalSlices = (a: GoSlice, b: GoSlice, budget: RenderBudget): boolean =>
  a.isNil === b.isNil &&
  a.items.length === b.items.length &&
  a.items.every((item, n) => deepEqual(item, b.items[n], budget));

function equalObjects(a: Value, b: Value, budget: RenderBudget): boolean {
  if (a instanceof GoMap && b instanceof GoMap) return equalMaps(a, b, budget);
  if (a instanceof GoSlice && b instanceof GoSlice) return equalSlices(a, b, budget);
  if (a instanceof Float && b instanceof Float) return a.value === b.value;
  return a instanceof Int && b instanceof Int ? a.value === b.value : plainText(a, budget) === plainText(b, budget);
}

/** As reflect.DeepEqual: values of different types are never equal. */
export function deepEqual(a: Value, b: Value, budget: RenderBudget): boolean {
  budget.step();
  const [one, other] = [a ?? null, b ?? null];
  if (one === other) return true;
  return typeof one === 'object' && typeName(one) === typeName(other) && equalObjects(one, other, budget);
}
