// Numbers in text, as Go's strconv reads them.

const DIGITS: Readonly<Record<string, RegExp>> = {
  x: /^[0-9a-f]+$/,
  o: /^[0-7]+$/,
  b: /^[01]+$/,
  d: /^[0-9]+$/,
};

const PREFIXED: Readonly<Record<string, string>> = { '0x': 'x', '0o': 'o', '0b': 'b' };

/** Whether an underscore stands elsewhere than between digits, or between a prefix and a digit. */
function isMisplaced(text: string): boolean {
  const bare = text.replace(/^[+-]/, '').toLowerCase();
  const digits = /^0[box]/.test(bare) ? `0${bare.slice(2)}` : bare;
  return bare.startsWith('0x') ? /(?<![0-9a-f])_|_(?![0-9a-f])/.test(digits) : /(?<![0-9])_|_(?![0-9])/.test(digits);
}

function basePrefix(text: string): readonly [radix: string, digits: string] {
  const radix = PREFIXED[text.slice(0, 2)];
  if (radix !== undefined) return [radix, text.slice(2)];
  return text.startsWith('0') && text.length > 1 ? ['o', text.slice(1)] : ['d', text];
}

/** An integer with the base in its prefix, of any size; undefined where it is none. */
export function parseInteger(text: string): bigint | undefined {
  const isNegative = text.startsWith('-');
  const lower = text.replace(/^[+-]/, '').toLowerCase();
  const [radix, digits] = basePrefix(lower);
  if (isMisplaced(lower)) return undefined;
  const bare = digits.replaceAll('_', '');
  if (!DIGITS[radix]?.test(bare)) return undefined;
  const value = BigInt(radix === 'd' ? bare : `0${radix}${bare}`);
  return isNegative ? -value : value;
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
export const fitsInt64 = (value: bigint): boolean => value >= LEAST && value <= MOST;
export const fitsUint64 = (value: bigint): boolean => value >= 0n && value < 2n ** 64n;

/** As strconv.ParseInt in base 10. */
export function parseDecimal(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return fitsInt64(value) ? value : undefined;
}

const HEX_FLOAT = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)$/;
const NAMED = /^([+-]?)(inf|infinity|nan)$/i;
const DECIMAL = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;

function hexFloat([, sign, whole = '', fraction = '', exponent]: RegExpExecArray): number | undefined {
  if (whole === '' && fraction === '') return undefined;
  const mantissa = Number(BigInt(`0x${whole}${fraction}`));
  const value = mantissa * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -value : value;
}

function namedFloat([, sign, name = '']: RegExpExecArray): number {
  if (name.toLowerCase() === 'nan') return Number.NaN;
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** As strconv.ParseFloat; undefined where it is no number or beyond a float64. */
export function parseFloat64(text: string): number | undefined {
  const named = NAMED.exec(text);
  if (named) return namedFloat(named);
  if (isMisplaced(text)) return undefined;
  const bare = text.replaceAll('_', '');
  const hex = HEX_FLOAT.exec(bare);
  const value = hex ? hexFloat(hex) : DECIMAL.test(bare) ? Number(bare) : undefined;
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}
