// What a plain scalar stands for, as the Go library yaml v2 reads it. Its rules are its own: neither YAML 1.1 (numbers
// of base 60 and timestamps are texts, as in Helm) nor YAML 1.2 (`yes` is a bool, `017` is octal).
import { fitsInt64, fitsUint64, parseFloat64, parseInteger } from '../value/numbers.ts';

/** A bigint is an integer, a number a float. */
export type YamlScalar = string | bigint | number | boolean | null;

const words = (value: YamlScalar, list: string): [string, YamlScalar][] => list.split(' ').map((word) => [word, value]);

const WORDS: ReadonlyMap<string, YamlScalar> = new Map([
  ...words(true, 'y Y yes Yes YES true True TRUE on On ON'),
  ...words(false, 'n N no No NO false False FALSE off Off OFF'),
  ['', null],
  ...words(null, '~ null Null NULL'),
  ...words(Number.NaN, '.nan .NaN .NAN'),
  ...words(Number.POSITIVE_INFINITY, '.inf .Inf .INF +.inf +.Inf +.INF'),
  ...words(Number.NEGATIVE_INFINITY, '-.inf -.Inf -.INF'),
]);
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?(Z|[+-]\d{2}:\d{2})| (\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?)?$/;

/** Whether yaml v2 takes it for a timestamp: it reads that as a text, and quotes it when it writes. */
export function isTimestamp(text: string): boolean {
  const match = TIMESTAMP.exec(text);
  if (!match) return false;
  const [, year = '0', month = '0', day = '0'] = match;
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year));
  const [hour, minute, second] = [match[4] ?? match[9], match[5] ?? match[10], match[6] ?? match[11]].map(Number);
  const isTime = !((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59);
  return isTime && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** The value of a scalar without quotes and tag; the text itself where it is nothing else. */
export function plainValue(text: string): YamlScalar {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text[0] as string;
  if (first === '.') return parseFloat64(text) ?? text;
  if (!/[-+0-9]/.test(first) || isTimestamp(text)) return text;
  const plain = text.replaceAll('_', '');
  const integer = parseInteger(plain);
  if (integer !== undefined && (fitsInt64(integer) || fitsUint64(integer))) return integer;
  return FLOAT.test(plain) ? (parseFloat64(plain) ?? text) : text;
}
