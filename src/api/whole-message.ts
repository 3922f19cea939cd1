import { IncomingMessage } from 'node:http';

/**
 * A request whose body can be taken as a whole. Node gives each request a stream, whose events and ticks cost about a
 * tenth of a short request; `push` is where its parser hands over a piece, and `null` at the end.
 */
export class WholeMessage extends IncomingMessage {
  #pieces: Buffer[] | undefined;
  #whole: ((body: Buffer) => void) | undefined;

  /** Calls back once with all of the body, at once where it has come already. The caller bounds its length beforehand. */
  takeWhole(whole: (body: Buffer) => void): void {
    const come = this.readableLength > 0 ? (this.read() as Buffer | null) : null;
    if (this.complete) return whole(come ?? Buffer.alloc(0));
    this.#pieces = come ? [come] : [];
    this.#whole = whole;
  }

  override push(piece: Buffer | null): boolean {
    const pieces = this.#pieces;
    if (!pieces) return super.push(piece);
    if (piece) pieces.push(piece);
    else this.#whole?.(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
    return true;
  }
}
