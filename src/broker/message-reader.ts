import { Fault } from '#core/fault.ts';

// Of every message: whether it is compressed, and its length. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
const HEAD_BYTES = 5;
const NOTHING = Buffer.alloc(0);

/** Cuts the bytes of a call into messages; throws a `Fault` where one is too long or compressed. */
export class MessageReader {
  #longest: number;
  /** The beginning of a message whose rest has not come. */
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Whole messages may follow in it. */
  #chunk: Buffer = NOTHING;

  constructor(longest: number) {
    this.#longest = longest;
  }

  set longest(bytes: number) {
    this.#longest = bytes;
  }

  /** Call it when `next` has no more. */
  add(chunk: Buffer): void {
    if (this.#bytes === 0) this.#chunk = chunk;
    else this.#continue(chunk);
  }

  /** The next message, if it has come as a whole. */
  next(): Buffer | undefined {
    const chunk = this.#chunk;
    if (chunk.length === 0) return undefined;
    const end = this.#endOf(chunk);
    if (chunk.length < end) {
      // Copied: it is a window on all that the connection brought with it.
      this.#keep(Buffer.from(chunk));
      return undefined;
    }
    this.#chunk = chunk.length === end ? NOTHING : chunk.subarray(end);
    return chunk.subarray(HEAD_BYTES, end);
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#bytes += part.length;
    this.#chunk = NOTHING;
  }

  #continue(chunk: Buffer): void {
    // The first part has the head, or is shorter than that: then it is joined as soon as the head is there.
    const [first = NOTHING] = this.#parts;
    if (this.#bytes + chunk.length < this.#endOf(first)) return this.#keep(Buffer.from(chunk));
    this.#parts.push(chunk);
    this.#chunk = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
  }

  /** Where the message ends that begins here; at least after its head. */
  #endOf(chunk: Buffer): number {
    if (chunk.length < HEAD_BYTES) return HEAD_BYTES;
    const length = chunk.readUInt32BE(1);
    if (length > this.#longest) {
      const remedy = 'Send less in one message.';
      throw new Fault('throttled', `The message has ${length} bytes; the most is ${this.#longest}.`, { remedy });
    }
    if (chunk[0] === 0) return HEAD_BYTES + length;
    throw new Fault('unsupported', 'The message is compressed.', { remedy: 'Send messages without compression.' });
  }
}

/** A message as it travels, behind so many free bytes. */
export function asFrame(message: Uint8Array, free = 0): Buffer {
  const frame = Buffer.allocUnsafe(free + HEAD_BYTES + message.length);
  frame[free] = 0;
  frame.writeUInt32BE(message.length, free + 1);
  frame.set(message, free + HEAD_BYTES);
  return frame;
}
