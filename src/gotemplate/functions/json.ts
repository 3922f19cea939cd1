import { Fault } from '#core/fault.ts';
import type { RenderBudget } from '../limits.ts';
import { hasStrayBytes } from '../value/bytes.ts';
import { type Data, goValue } from '../value/data.ts';
import { GoStruct } from '../value/struct.ts';
import { Float, GoMap, GoSlice, Int, type Value } from '../value/value.ts';
import { type Functions, fn } from './function.ts';
import { jsonError } from './json-error.ts';

export interface JsonStyle {
  /** Whether <, > and & are escaped. */
  readonly escapesHtml: boolean;
  /** The indentation of a level; none puts all on one line. */
  readonly indent: string;
}

const HTML: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

function stringJson(text: string, { escapesHtml }: JsonStyle): string {
  let out = JSON.stringify(text);
  if (hasStrayBytes(text)) out = out.replace(/\\ud[89a-f][0-9a-f]{2}/g, '\\ufffd');
  out = out.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return escapesHtml ? out.replace(/[<>&]/g, (char) => HTML[char] ?? char) : out;
}

function floatJson(value: number): string {
  if (!Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    throw new Fault('invalid', `json: unsupported value: ${shown}`);
  }
  return Object.is(value, -0) ? '-0' : String(value);
}

function scalarJson(value: Exclude<Value, GoMap | GoSlice>, style: JsonStyle): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return stringJson(value, style);
  if (typeof value !== 'object') return String(value);
  if (value instanceof Float) return floatJson(value.value);
  if (value instanceof Int) return String(value.value);
  return scalarJson(value.json ?? value.text, style);
}

/** The parts between brackets, each on a line of its own where the style indents. */
function within(open: string, parts: readonly string[], close: string, style: JsonStyle, level: number): string {
  if (parts.length === 0) return open + close;
  if (style.indent === '') return open + parts.join(',') + close;
  const line = `\n${style.indent.repeat(level + 1)}`;
  return `${open}${line}${parts.join(`,${line}`)}\n${style.indent.repeat(level)}${close}`;
}

/** A value as encoding/json writes it: keys sorted, floats as JavaScript has them. */
export function jsonText(value: Value, style: JsonStyle, budget: RenderBudget, level = 0): string {
  budget.step();
  if (value instanceof GoSlice) {
    if (value.isNil) return 'null';
    const items = value.items.map((item) => jsonText(item, style, budget, level + 1));
    return within('[', items, ']', style, level);
  }
  const map = value instanceof GoStruct ? value.content : value;
  if (!(map instanceof GoMap)) return scalarJson(map, style);
  if (map.isNil) return 'null';
  const colon = style.indent === '' ? ':' : ': ';
  // The fields of a struct keep their order.
  const keys = map === value ? map.sortedKeys() : [...map.entries.keys()];
  const entries = keys.map(
    (key) => stringJson(key, style) + colon + jsonText(map.entries.get(key), style, budget, level + 1),
  );
  return within('{', entries, '}', style, level);
}

export const COMPACT: JsonStyle = { escapesHtml: true, indent: '' };
const PRETTY: JsonStyle = { escapesHtml: true, indent: '  ' };
const RAW: JsonStyle = { escapesHtml: false, indent: '' };

// A text that is no JSON costs an exception.
const STEPS_OF_A_TEXT = 16;

/** The values of a JSON text; every number is a float64. */
export function parseJson(text: string, budget: RenderBudget): Value {
  budget.step(STEPS_OF_A_TEXT);
  let data: Data;
  try {
    data = JSON.parse(text) as Data;
  } catch {
    throw new Fault('invalid', jsonError(text));
  }
  return goValue(data, 'float64');
}

/** What it gives, or `otherwise` where it fails: the functions of Sprig without `must`. */
export function orElse(give: () => Value, otherwise: Value): Value {
  try {
    return give();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'invalid') return otherwise;
    throw thrown;
  }
}

/** Sprig's functions for JSON, apart from `fromJson`, which Helm replaces. */
export const jsonFunctions: Functions = {
  toJson: fn(['any'], (value, { budget }) => orElse(() => jsonText(value, COMPACT, budget), '')),
  mustToJson: fn(['any'], (value, { budget }) => jsonText(value, COMPACT, budget)),
  toPrettyJson: fn(['any'], (value, { budget }) => orElse(() => jsonText(value, PRETTY, budget), '')),
  mustToPrettyJson: fn(['any'], (value, { budget }) => jsonText(value, PRETTY, budget)),
  toRawJson: fn(['any'], (value, { budget }) => jsonText(value, RAW, budget)),
  mustToRawJson: fn(['any'], (value, { budget }) => jsonText(value, RAW, budget)),
  mustFromJson: fn(['string'], (text, { budget }) => parseJson(text, budget)),
};
