// The JSON paths of printer columns: fields, `[n]`, `[*]` and `[?(@.field=="value")]`.
import { fieldsOf, isFields, listOf, valueAt } from '../objects/object.ts';

const STEP = /\.([\w\uE000-]+|\*)|\['([^']+)'\]|\[(\d+|\*)\]|\[\?\(@\.([\w.-]+)\s*==\s*["']([^"']*)["']\)\]/gy;

function follow(values: readonly unknown[], step: RegExpExecArray): unknown[] {
  const [, dotted, quoted, index, filterPath, wanted] = step;
  if (filterPath !== undefined) {
    const path = filterPath.split('.');
    return values.flatMap((value) => listOf(value).filter((item) => String(valueAt(item, path)) === wanted));
  }
  if (index === '*' || dotted === '*') {
    return values.flatMap((value) => (isFields(value) ? Object.values(value) : listOf(value)));
  }
  if (index !== undefined) return values.flatMap((value) => listOf(value).slice(Number(index), Number(index) + 1));
  const key = dotted ?? quoted ?? '';
  return values.map((value) => fieldsOf(value)[key]).filter((value) => value !== undefined);
}

/** All values that the path leads to; none where it is malformed. */
export function valuesAt(object: unknown, path: string): readonly unknown[] {
  const written = path.replaceAll(String.raw`\.`, '\uE000');
  const steps = new RegExp(STEP);
  let values: readonly unknown[] = [object];
  while (steps.lastIndex < written.length) {
    const step = steps.exec(written);
    if (!step) return [];
    values = follow(values, step.map((part) => part?.replaceAll('\uE000', '.')) as unknown as RegExpExecArray);
  }
  return values;
}
