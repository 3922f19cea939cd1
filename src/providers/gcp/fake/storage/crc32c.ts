// The checksum that Google's clients compare after each copy: CRC-32 by Castagnoli's polynomial (RFC 3720, B.4).
import { Buffer } from 'node:buffer';

const POLYNOMIAL = 0x82_f6_3b_78;
const BITS = 8;

const TABLE = Uint32Array.from({ length: 256 }, (_, start) => {
  let value = start;
  for (let bit = 0; bit < BITS; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/** As the API has it: big endian, in base64. */
export function crc32c(content: Uint8Array): string {
  let sum = 0xff_ff_ff_ff;
  for (const byte of content) sum = (sum >>> BITS) ^ (TABLE[(sum ^ byte) & 0xff] as number);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE((sum ^ 0xff_ff_ff_ff) >>> 0);
  return bytes.toString('base64');
}
