import { Fault } from '#core/fault.ts';
import { GoStruct } from './struct.ts';
import { Float, GoMap, GoSlice, Int, intOf, type Value } from './value.ts';

/** What callers hand in: JSON, bigints, and values that `goValue` has made before. */
export type Data = undefined | null | boolean | string | number | bigint | object;

/** How numbers of the data become Go's: JSON itself does not tell ints from floats. */
export type Numbers = 'by-value' | 'float64';

/**
 * Data as Go values. With `by-value` a number without a fraction is an int, any other a float64: so does Go code that
 * fills a template's data from typed settings. With `float64` every number is one, as encoding/json reads it. `goFloat`
 * makes a float64 of a whole number; a bigint is an int64.
 */
export function goValue(data: Data, numbers: Numbers = 'by-value'): Value {
  if (typeof data === 'number') return goNumber(data, numbers);
  if (typeof data === 'bigint') return intOf('int64', data);
  if (typeof data !== 'object' || data === null) return data;
  if (data instanceof GoMap || data instanceof GoSlice || data instanceof Float || data instanceof Int) return data;
  if (data instanceof GoStruct) return data;
  if (Array.isArray(data)) return new GoSlice(data.map((item: Data) => goValue(item, numbers) ?? null));
  const entries = new Map<string, Value>();
  for (const [key, item] of Object.entries(data)) {
    if (item !== undefined) entries.set(key, goValue(item as Data, numbers));
  }
  return new GoMap(entries);
}

/** A struct of that type, as Go code hands it in: templates may use its fields, and no others. */
export const goStruct = (type: string, fields: Readonly<Record<string, Data>>): GoStruct =>
  new GoStruct(type, new Map(Object.entries(fields).map(([name, value]) => [name, goValue(value)])));

/** A `map[string]string`. */
export const goTexts = (texts: Readonly<Record<string, string>>): GoMap =>
  new GoMap(new Map(Object.entries(texts)), 'string');

export const goFloat = (value: number): Float => new Float(value);

function goNumber(value: number, numbers: Numbers): Value {
  if (!Number.isFinite(value)) throw new Fault('invalid', `The data of a template holds the number ${value}.`);
  return numbers === 'by-value' && Number.isSafeInteger(value) ? value + 0 : new Float(value);
}
