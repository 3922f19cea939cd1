import { Fault } from '#core/fault.ts';

/** The longest message that either side accepts. */
export const LONGEST_MESSAGE_BYTES = 4 * 1024 * 1024;

/** The longest message that the server accepts from a caller whose credentials it has not checked. */
export const LONGEST_UNCHECKED_BYTES = 64 * 1024;

const LENGTH_DELIMITED = 2;

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) bytes += 1;
  return bytes;
}

function writeVarint(buffer: Buffer, at: number, value: number): number {
  let end = at;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) buffer[end++] = (rest & 0x7f) | 0x80;
  buffer[end++] = rest;
  return end;
}

/** A message with these encoded ones in one repeated field: each is encoded once, so its size is known before. */
export function messageOf(field: number, items: readonly Uint8Array[]): Uint8Array {
  const tag = field * 8 + LENGTH_DELIMITED;
  const tagBytes = varintBytes(tag);
  let size = 0;
  for (const { length } of items) size += tagBytes + varintBytes(length) + length;
  const message = Buffer.allocUnsafe(size);
  let at = 0;
  for (const item of items) {
    at = writeVarint(message, at, tag);
    at = writeVarint(message, at, item.length);
    message.set(item, at);
    at += item.length;
  }
  return message;
}

// PostgreSQL takes no NUL in a text, and a C string ends there.
const NUL = /\0/g;

/** Foreign text for display or storage: cut to a length, without what breaks stores. */
export function tame(text: string, longest: number): string {
  return text.slice(0, longest).toWellFormed().replace(NUL, '\ufffd');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a name.
const NOT_IN_A_NAME = /[\u0000-\u001f\u007f]/;

/** A foreign name that identifies something: an invalid one is refused, never changed. */
export function checkedName(text: string, longest: number, at: string): string {
  if (text === '') throw new Fault('invalid', `${at} is missing.`, { at });
  if (text.length > longest || NOT_IN_A_NAME.test(text) || !text.isWellFormed()) {
    const remedy = `Send at most ${longest} characters, none of them a control character.`;
    throw new Fault('invalid', `${at} is not a valid name.`, { at, remedy });
  }
  return text;
}
