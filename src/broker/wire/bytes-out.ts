// Writes protobuf by hand: commands are written for every session, and the library takes several times as long.

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIRST_BYTES = 64 * 1024;
// UTF-8 takes at most three bytes for one unit of a string; up to here the length of a text fits into one byte.
const SHORT_TEXT = 42;

/** One message at a time, in one buffer that all of them share. Fields with their zero value are left out, as in proto3. */
export interface BytesOut {
  number(field: number, value: number): void;
  bool(field: number, value: boolean): void;
  text(field: number, value: string): void;
  /** Written even where it is empty: the entry of a list or a map. */
  entry(field: number, value: string): void;
  bytes(field: number, value: Uint8Array): void;
  map(field: number, entries: Readonly<Record<string, string>>): void;
  /** Unsigned, one after the other without tags. */
  packed(field: number, values: readonly number[]): void;
  /** Begins a message within the message; hand the answer to `close`. */
  open(field: number): number;
  close(start: number): void;
  /** A copy of what was written; the next message begins. */
  take(): Buffer;
}

export function createBytesOut(): BytesOut {
  let buffer = Buffer.allocUnsafe(FIRST_BYTES);
  let at = 0;

  function reserve(bytes: number): void {
    if (at + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, at + bytes));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  }

  /** Up to 2^53; the caller has reserved ten bytes. */
  function varint(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest = rest < 0x80000000 ? rest >>> 7 : Math.floor(rest / 128))
      buffer[at++] = (rest & 0x7f) | 0x80;
    buffer[at++] = rest;
  }

  /** A negative number is written as its 64-bit complement. */
  function negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) buffer[at++] = Number(rest & 0x7fn) | 0x80;
    buffer[at++] = Number(rest);
  }

  function tag(field: number, wire: number): void {
    varint(field * 8 + wire);
  }

  function entry(field: number, value: string): void {
    if (value.length <= SHORT_TEXT) {
      reserve(value.length * 3 + 20);
      tag(field, LENGTH_DELIMITED);
      const length = buffer.write(value, at + 1);
      buffer[at] = length;
      at += length + 1;
      return;
    }
    const length = Buffer.byteLength(value);
    reserve(length + 20);
    tag(field, LENGTH_DELIMITED);
    varint(length);
    at += buffer.write(value, at);
  }

  function number(field: number, value: number): void {
    if (value === 0) return;
    reserve(20);
    tag(field, VARINT);
    if (value < 0) negative(value);
    else varint(value);
  }

  function open(field: number): number {
    reserve(20);
    tag(field, LENGTH_DELIMITED);
    at += 1;
    return at;
  }

  /** One byte was left for the length; what is longer moves on. */
  function close(start: number): void {
    const length = at - start;
    if (length <= 0x7f) {
      buffer[start - 1] = length;
      return;
    }
    const lengthBytes = length < 0x4000 ? 2 : length < 0x200000 ? 3 : 4;
    reserve(lengthBytes);
    buffer.copyWithin(start - 1 + lengthBytes, start, at);
    at = start - 1;
    varint(length);
    at += length;
  }

  return {
    number,
    bool: (field, value) => number(field, value ? 1 : 0),
    text(field, value) {
      if (value !== '') entry(field, value);
    },
    entry,
    bytes(field, value) {
      if (value.length === 0) return;
      reserve(value.length + 20);
      tag(field, LENGTH_DELIMITED);
      varint(value.length);
      buffer.set(value, at);
      at += value.length;
    },
    map(field, entries) {
      for (const name in entries) {
        const start = open(field);
        entry(1, name);
        entry(2, entries[name] ?? '');
        close(start);
      }
    },
    packed(field, values) {
      if (values.length === 0) return;
      const start = open(field);
      for (const value of values) {
        reserve(10);
        varint(value);
      }
      close(start);
    },
    open,
    close,
    take() {
      const message = Buffer.from(buffer.subarray(0, at));
      at = 0;
      if (buffer.length > FIRST_BYTES) buffer = Buffer.allocUnsafe(FIRST_BYTES);
      return message;
    },
  };
}
