import { ERROR, type ErrorCode, HEAD_BYTES, LONGEST_FRAME_BYTES, PREFACE } from './frames.ts';

/** Cuts the bytes of a client into frames, behind the words that every connection begins with. */
export class FrameReader {
  #hasPreface = false;
  #rest: Buffer | undefined;

  /** Hands over each whole frame while `take` answers true. Answers the error where the bytes are no frames. */
  read(chunk: Buffer, take: (frame: Buffer) => boolean): ErrorCode | undefined {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = undefined;
    let at = 0;
    if (!this.#hasPreface) {
      const length = Math.min(bytes.length, PREFACE.length);
      if (bytes.compare(PREFACE, 0, length, 0, length) !== 0) return ERROR.protocol;
      this.#hasPreface = length === PREFACE.length;
      if (this.#hasPreface) at = length;
    }
    while (this.#hasPreface && bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUIntBE(at, 3);
      if (length > LONGEST_FRAME_BYTES) return ERROR.frameSize;
      const end = at + HEAD_BYTES + length;
      if (bytes.length < end) break;
      if (!take(bytes.subarray(at, end))) return undefined;
      at = end;
    }
    // Copied: it is a window on a larger buffer.
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at));
    return undefined;
  }
}
