// The Huffman code of HPACK (RFC 7541, appendix B). It is canonical: the length of each symbol's code gives the code.
const LENGTHS = [
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca',
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds',
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn',
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq',
  'u',
].join('');
const BASE = 36;
const LONGEST = 30;
const END_OF_STRING = 256;
const MOST_PADDING_BITS = 7;

/** By the length of a code: the first code, how many there are, and where their symbols begin. */
interface CodesOfLength {
  readonly first: number;
  readonly count: number;
  readonly at: number;
}

function canonical(): { readonly byLength: readonly CodesOfLength[]; readonly symbols: readonly number[] } {
  const lengths = Array.from(LENGTHS, (digit) => Number.parseInt(digit, BASE));
  const symbols: number[] = [];
  const byLength: CodesOfLength[] = [{ first: 0, count: 0, at: 0 }];
  let first = 0;
  for (let length = 1; length <= LONGEST; length++) {
    const at = symbols.length;
    for (const [symbol, own] of lengths.entries()) if (own === length) symbols.push(symbol);
    const count = symbols.length - at;
    first *= 2;
    byLength.push({ first, count, at });
    first += count;
  }
  return { byLength, symbols };
}

const { byLength, symbols } = canonical();

/** The text, or undefined where the bytes are no such code. */
export function decodeHuffman(bytes: Uint8Array): string | undefined {
  const text: number[] = [];
  let code = 0;
  let length = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      length += 1;
      const { first, count, at } = byLength[length] as CodesOfLength;
      if (code - first >= count) continue;
      const symbol = symbols[at + code - first] as number;
      if (symbol === END_OF_STRING) return undefined;
      text.push(symbol);
      code = 0;
      length = 0;
    }
  }
  // What is left over is the beginning of the code for the end, which is all ones.
  const isPadding = length <= MOST_PADDING_BITS && code === 2 ** length - 1;
  return isPadding ? String.fromCharCode(...text) : undefined;
}
