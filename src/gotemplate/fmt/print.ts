import type { RenderBudget } from '../limits.ts';
import { GoStruct } from '../value/struct.ts';
import { Float, GoMap, GoSlice, Int, type Value } from '../value/value.ts';
import { floatText } from './float.ts';

const NIL = '<nil>';

function objectText(value: Exclude<Value, undefined | null | boolean | string | number>, budget: RenderBudget): string {
  if (value instanceof Float) return floatText(value.value);
  if (value instanceof Int) return String(value.value);
  if (value instanceof GoSlice) return sliceText(value, budget);
  if (value instanceof GoMap) return mapText(value, budget);
  if (value instanceof GoStruct) return structText(value, budget);
  return value.text;
}

function sliceText({ items }: GoSlice, budget: RenderBudget): string {
  budget.step(items.length);
  return `[${items.map((item) => plainText(item, budget)).join(' ')}]`;
}

function mapText(map: GoMap, budget: RenderBudget): string {
  budget.step(map.entries.size);
  const entries = map.sortedKeys().map((key) => `${key}:${plainText(map.entries.get(key), budget)}`);
  return `map[${entries.join(' ')}]`;
}

function structText({ content }: GoStruct, budget: RenderBudget): string {
  budget.step(content.entries.size);
  return `{${[...content.entries.values()].map((value) => plainText(value, budget)).join(' ')}}`;
}

/** A value as `%v` prints it. */
export function plainText(value: Value, budget: RenderBudget): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
      return String(value);
    case 'undefined':
      return NIL;
    default:
      return value === null ? NIL : objectText(value, budget);
  }
}

/** As fmt.Sprint: a blank between two that are both no strings. */
export function sprint(values: readonly Value[], budget: RenderBudget): string {
  let out = '';
  for (const [n, value] of values.entries()) {
    if (n > 0 && typeof value !== 'string' && typeof values[n - 1] !== 'string') out += ' ';
    out += plainText(value, budget);
  }
  budget.write(out.length);
  return out;
}

/** As fmt.Sprintln: a blank between any two, and a line feed. */
export function sprintln(values: readonly Value[], budget: RenderBudget): string {
  const out = `${values.map((value) => plainText(value, budget)).join(' ')}\n`;
  budget.write(out.length);
  return out;
}
