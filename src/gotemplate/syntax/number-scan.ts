const WORD = /[\p{L}\p{Nd}_]/uy;

/** Digits by their prefix; a number without one may have an exponent, a hexadecimal one a power of two. */
const NUMBER =
  /[+-]?(?:0[xX][0-9a-fA-F_]*\.?[0-9a-fA-F_]*(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*\.?[0-7_]*|0[bB][01_]*\.?[01_]*|[0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9_]*)?)i?/y;

export interface Scanned {
  readonly end: number;
  /** Whether nothing follows that could belong to it. */
  readonly isGood: boolean;
}

export function isWordAt(text: string, at: number): boolean {
  WORD.lastIndex = at;
  return WORD.test(text);
}

/** What looks like a number at that place; whether it is one shows when it is read. */
export function scanNumber(text: string, at: number): Scanned {
  NUMBER.lastIndex = at;
  NUMBER.test(text);
  const end = NUMBER.lastIndex;
  if (!isWordAt(text, end)) return { end, isGood: true };
  return { end: end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1), isGood: false };
}
