// Decimal forms of a float64 as Go's strconv writes them. JavaScript gives the same shortest digits; the layout differs.

interface Digits {
  readonly isNegative: boolean;
  /** Without a point, at least one. */
  readonly digits: string;
  /** The power of ten of the first digit. */
  readonly exponent: number;
}

function digitsOf(exponential: string): Digits {
  const [mantissa = '0', exponent = '0'] = exponential.split('e');
  const isNegative = mantissa.startsWith('-');
  return { isNegative, digits: mantissa.replace(/[-.]/g, ''), exponent: Number(exponent) };
}

const special = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf');
const isNegative = (value: number): boolean => value < 0 || Object.is(value, -0);

const shortest = (value: number): Digits => ({ ...digitsOf(value.toExponential()), isNegative: isNegative(value) });

function exponentText(exponent: number, letter: string): string {
  return `${letter}${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function inE({ isNegative, digits, exponent }: Digits, letter: string): string {
  const tail = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${isNegative ? '-' : ''}${digits[0]}${tail}${exponentText(exponent, letter)}`;
}

function inF({ isNegative, digits, exponent }: Digits): string {
  const sign = isNegative ? '-' : '';
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const rest = digits.slice(exponent + 1);
  return `${sign}${whole}${rest === '' ? '' : `.${rest}`}`;
}

const MOST_PLACES = 100;

/** Exact digits to that many places; JavaScript stops at 100, and no binary fraction of use has more. */
function fixed(value: number, places: number): string {
  const known = Math.min(places, MOST_PLACES);
  const text =
    Math.abs(value) < 1e21 ? halfToEven(value.toFixed(known), value.toFixed(MOST_PLACES)) : exactWhole(value, places);
  const padded = places > MOST_PLACES ? text.padEnd(text.length + places - MOST_PLACES, '0') : text;
  return isNegative(value) && !padded.startsWith('-') ? `-${padded}` : padded;
}

const exactWhole = (value: number, places: number): string =>
  `${BigInt(value)}${places > 0 ? `.${'0'.repeat(Math.min(places, MOST_PLACES))}` : ''}`;

/** Go rounds a tie to the even digit, JavaScript away from zero. */
function halfToEven(rounded: string, exact: string): string {
  const kept = exact.slice(0, rounded.length);
  const isTie = kept.length < exact.length && /^\.?50*$/.test(exact.slice(rounded.length));
  const last = Number(kept.replace('.', '').at(-1));
  return isTie && last % 2 === 0 ? kept : rounded;
}

function exponential(value: number, places: number): Digits {
  const known = Math.min(places, MOST_PLACES);
  const [rounded = '', exponent = ''] = value.toExponential(known).split('e');
  const [exact = '', exactExponent = ''] = value.toExponential(MOST_PLACES).split('e');
  // Where rounding has carried into a new digit it was no tie that goes to even.
  const mantissa = exponent === exactExponent ? halfToEven(rounded, exact) : rounded;
  return { ...digitsOf(`${mantissa}e${exponent}`), isNegative: isNegative(value) };
}

const SHORTEST_LIMIT = 6;

function general(value: number, precision: number, letter: string, keepsZeros: boolean): string {
  const isShortest = precision < 0;
  const found = isShortest ? shortest(value) : exponential(value, Math.max(precision, 1) - 1);
  const digits = keepsZeros ? found.digits : found.digits.replace(/0+$/, '') || '0';
  // %e is used if the exponent from the conversion is less than -4 or not below the precision.
  const below = isShortest ? SHORTEST_LIMIT : Math.max(precision, 1);
  const trimmed = { ...found, digits };
  return found.exponent < -4 || found.exponent >= below ? inE(trimmed, letter) : inF(trimmed);
}

/** As strconv.FormatFloat: `e`, `E`, `f`, `g` or `G`; a negative precision is the shortest that reads back the same. */
export function formatFloat(value: number, verb: string, precision: number, keepsZeros = false): string {
  if (!Number.isFinite(value)) return special(value);
  switch (verb) {
    case 'e':
    case 'E':
      return inE(precision < 0 ? shortest(value) : exponential(value, precision), verb);
    case 'f':
      return precision < 0 ? inF(shortest(value)) : fixed(value, precision);
    default:
      return general(value, precision, verb === 'G' ? 'E' : 'e', keepsZeros);
  }
}

/** As `%v` and `print` write it. */
export const floatText = (value: number): string => formatFloat(value, 'g', -1);
