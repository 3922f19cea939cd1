// Reads protobuf by hand: reports come for every session, and the library takes several times as long.
import { Fault } from '#core/fault.ts';

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;
const LONGEST_VARINT = 10;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const NOTHING = Buffer.alloc(0);

const invalid = (): Fault =>
  new Fault('invalid', 'The message is not valid protobuf.', {
    remedy: 'Send messages as proto/velda describes them.',
  });

/** The fields of one message, one after the other; throws a `Fault` where the bytes are no message. One serves many messages. */
export class BytesIn {
  #buffer: Buffer = NOTHING;
  #at = 0;
  #end = 0;
  #wire = VARINT;

  /** Begins with another message. */
  begin(message: Uint8Array): void {
    this.#buffer = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    this.#at = 0;
    this.#end = message.byteLength;
  }

  /** The number of the next field; 0 at the end. */
  next(): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.#low32() >>> 0;
    this.#wire = tag & 7;
    if (tag < 8) throw invalid();
    return tag >>> 3;
  }

  /** 32 bits. */
  unsigned(): number {
    return this.signed() >>> 0;
  }

  signed(): number {
    if (this.#wire !== VARINT) throw invalid();
    return this.#low32();
  }

  /** Exact up to 2^53. */
  long(): number {
    if (this.#wire !== VARINT) throw invalid();
    let value = 0;
    for (let scale = 1, count = 0; count < LONGEST_VARINT; scale *= 128, count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw invalid();
  }

  text(): string {
    const end = this.#endOfField();
    const start = this.#at;
    this.#at = end;
    for (let at = start; at < end; at++) {
      if ((this.#buffer[at] as number) > 0x7f) return this.#decoded(start, end);
    }
    return this.#buffer.toString('latin1', start, end);
  }

  /** A window on the message. */
  bytes(): Uint8Array {
    const end = this.#endOfField();
    const window = this.#buffer.subarray(this.#at, end);
    this.#at = end;
    return window;
  }

  /** Passes over the field; `enter` returns to it. */
  pass(): number {
    const start = this.#at;
    this.#at = this.#endOfField();
    return start;
  }

  /** Goes on inside of a field that was passed, to its end. */
  enter(start: number): void {
    this.#at = start;
    this.#wire = LENGTH_DELIMITED;
    this.#end = this.#buffer.length;
    this.#end = this.#endOfField();
  }

  /** Goes on behind a field that was passed, in the whole message. */
  leave(start: number): void {
    this.enter(start);
    this.#at = this.#end;
    this.#end = this.#buffer.length;
  }

  /** Passes over a field of any kind. */
  skip(): void {
    if (this.#wire === VARINT) this.#low32();
    else if (this.#wire === LENGTH_DELIMITED) this.#at = this.#endOfField();
    else if (this.#wire === FIXED_32) this.#advance(4);
    else if (this.#wire === FIXED_64) this.#advance(8);
    else throw invalid();
  }

  #byte(): number {
    if (this.#at >= this.#end) throw invalid();
    return this.#buffer[this.#at++] as number;
  }

  /** The low 32 bits of a number of up to 64. */
  #low32(): number {
    let value = 0;
    for (let count = 0; count < LONGEST_VARINT; count++) {
      const byte = this.#byte();
      if (count < 5) value |= (byte & 0x7f) << (7 * count);
      if (byte < 0x80) return value;
    }
    throw invalid();
  }

  #endOfField(): number {
    if (this.#wire !== LENGTH_DELIMITED) throw invalid();
    const length = this.#low32() >>> 0;
    const end = this.#at + length;
    if (end > this.#end) throw invalid();
    return end;
  }

  #advance(bytes: number): void {
    this.#at += bytes;
    if (this.#at > this.#end) throw invalid();
  }

  #decoded(start: number, end: number): string {
    try {
      return utf8.decode(this.#buffer.subarray(start, end));
    } catch {
      throw invalid();
    }
  }
}
