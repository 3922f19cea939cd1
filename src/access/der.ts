// Just enough of X.690 (DER) to write certificates: each function answers one complete element.

const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;

function lengthOf(count: number): Buffer {
  if (count < 0x80) return Buffer.of(count);
  const bytes: number[] = [];
  for (let rest = count; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.of(0x80 | bytes.length, ...bytes);
}

function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return element(0x31, Buffer.concat(parts));
}

/** A positive integer from its bytes, highest first. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const shortest = bytes.subarray(start);
  // The highest bit is the sign.
  const isNegative = ((shortest[0] ?? 0) & 0x80) !== 0;
  return element(0x02, isNegative ? Buffer.concat([Buffer.of(0), shortest]) : shortest);
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.of(value ? 0xff : 0));
}

export function octetString(content: Uint8Array): Buffer {
  return element(0x04, content);
}

/** Whole bytes, or with `unusedBits` the last ones cut off. */
export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return element(0x03, Buffer.concat([Buffer.of(unusedBits), content]));
}

export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text, 'utf8'));
}

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes: number[] = [];
  for (const number of [first * 40 + second, ...rest]) {
    const digits = [number % 128];
    for (let high = Math.floor(number / 128); high > 0; high = Math.floor(high / 128))
      digits.unshift(128 + (high % 128));
    bytes.push(...digits);
  }
  return element(0x06, Buffer.from(bytes));
}

/** RFC 5280 §4.1.2.5: two digits of the year through 2049, four from then on. */
export function time(ms: number): Buffer {
  const digits = new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '');
  const isShort = Number(digits.slice(0, 4)) < 2050;
  return element(isShort ? 0x17 : 0x18, Buffer.from(isShort ? digits.slice(2) : digits, 'ascii'));
}

/** `[number] EXPLICIT`: another element inside. */
export function tagged(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | CONSTRUCTED | number, content);
}

/** `[number] IMPLICIT`: bare bytes under a number of their own. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return element(CONTEXT | number, content);
}
