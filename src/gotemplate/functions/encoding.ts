import { createHash } from 'node:crypto';
import { bytesOf, textOfBytes } from '../value/bytes.ts';
import { type Functions, fn } from './function.ts';

const STEPS_OF_A_HASH = 4;

const hashOf = (algorithm: string) =>
  fn(['string'], (text, { budget }) => {
    budget.step(STEPS_OF_A_HASH);
    return createHash(algorithm).update(bytesOf(text)).digest('hex');
  });

const ADLER = 65_521;

function adler32(text: string): string {
  let a = 1;
  let b = 0;
  for (const byte of bytesOf(text)) {
    a = (a + byte) % ADLER;
    b = (b + a) % ADLER;
  }
  return String(b * 65_536 + a);
}

interface Alphabet {
  readonly name: 'base64' | 'base32';
  readonly chars: string;
  /** Characters of a whole group, and bits of a character. */
  readonly group: number;
  readonly bits: number;
  /** How many characters a group may have before its padding. */
  readonly partial: readonly number[];
}

const BASE64: Alphabet = {
  name: 'base64',
  chars: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  group: 4,
  bits: 6,
  partial: [2, 3],
};
const BASE32: Alphabet = {
  name: 'base32',
  chars: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  group: 8,
  bits: 5,
  partial: [2, 4, 5, 7],
};

function encoded(bytes: Uint8Array, { chars, group, bits }: Alphabet): string {
  let out = '';
  let buffer = 0;
  let held = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    held += 8;
    while (held >= bits) {
      held -= bits;
      out += chars[(buffer >> held) & (2 ** bits - 1)];
    }
    buffer &= 2 ** held - 1;
  }
  if (held > 0) out += chars[(buffer << (bits - held)) & (2 ** bits - 1)];
  return out + '='.repeat((group - (out.length % group)) % group);
}

/** Where the text stops being one of that alphabet; -1 where it is one throughout. */
function firstWrong(text: string, { chars, group, partial }: Alphabet): number {
  let inGroup = 0;
  let groupAt = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '\n' || char === '\r') continue;
    if (inGroup % group === 0) groupAt = at;
    if (char === '=') return wrongPadding(text, at, inGroup % group, group, partial);
    if (!chars.includes(char)) return at;
    inGroup++;
  }
  return inGroup % group === 0 ? -1 : groupAt;
}

function wrongPadding(text: string, at: number, held: number, group: number, partial: readonly number[]): number {
  if (!partial.includes(held)) return at;
  const rest = text.slice(at).replace(/[\r\n]+$/, '');
  const wanted = '='.repeat(group - held);
  if (rest === wanted) return -1;
  return rest.startsWith(wanted) ? at + wanted.length : wanted.startsWith(rest) ? text.length : at + 1;
}

/** The decoded text, or what Go says of it: Sprig gives the message as the result. */
function decoded(text: string, alphabet: Alphabet): string {
  const wrong = firstWrong(text, alphabet);
  if (wrong >= 0) return `illegal ${alphabet.name} data at input byte ${wrong}`;
  const bytes: number[] = [];
  let buffer = 0;
  let held = 0;
  for (const char of text.replace(/[\r\n=]/g, '')) {
    buffer = (buffer << alphabet.bits) | alphabet.chars.indexOf(char);
    held += alphabet.bits;
    if (held >= 8) {
      held -= 8;
      bytes.push((buffer >> held) & 255);
      buffer &= 2 ** held - 1;
    }
  }
  return textOfBytes(Uint8Array.from(bytes));
}

/** Sprig's encodings and digests. */
export const encodingFunctions: Functions = {
  b64enc: fn(['string'], (text) => bytesOf(text).toString('base64')),
  b64dec: fn(['string'], (text) => decoded(text, BASE64)),
  b32enc: fn(['string'], (text) => encoded(bytesOf(text), BASE32)),
  b32dec: fn(['string'], (text) => decoded(text, BASE32)),
  sha1sum: hashOf('sha1'),
  sha256sum: hashOf('sha256'),
  sha512sum: hashOf('sha512'),
  adler32sum: fn(['string'], adler32),
};
