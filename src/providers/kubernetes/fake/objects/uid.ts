import type { Random } from '#core/random.ts';

/** A random UUID (RFC 9562, version 4). */
export function newUid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** What the API server appends to a `generateName`. */
export const nameSuffix = (random: Random): string =>
  Array.from(random.bytes(5), (byte) => LETTERS[byte % LETTERS.length]).join('');
