import { type ErrorCode, FIRST_WINDOW_BYTES, FLAG, FRAME, frameOf, HEAD_BYTES, writeHead } from './frames.ts';

/** What a stream receives, in order. */
export interface StreamListener {
  /** A window on what the connection has brought: what is kept must be copied. */
  data(chunk: Buffer): void;
  /** The client sends no more. */
  ended(): void;
  /** Both sides are done, or one has given up; the last event. */
  closed(): void;
}

/** What a stream needs of its connection. */
export interface StreamCarrier {
  /** How much of any stream may be sent, and how much in one frame. */
  sendWindow: number;
  readonly longestFrame: number;
  /** `written` is called when the system has taken it, never where the connection breaks. */
  send(bytes: Buffer, written?: () => void): void;
  widen(stream: number, bytes: number): void;
  reset(stream: Http2Stream, code: ErrorCode): void;
  /** It has data that wait for the window of the connection. */
  blocked(stream: Http2Stream): void;
  forget(stream: Http2Stream): void;
}

interface Waiting {
  readonly bytes: Buffer;
  at: number;
  readonly written: () => void;
}

const MOST_HELD = 64;

/** Our side of one stream. A class, since every connected agent has one. It begins paused. */
export class Http2Stream {
  readonly id: number;
  readonly #carrier: StreamCarrier;
  #listener: StreamListener | undefined;
  #sendWindow: number;
  #receiveWindow = FIRST_WINDOW_BYTES;
  #consumed = 0;
  #isPaused = true;
  #held: Buffer[] | undefined;
  #waiting: Waiting[] | undefined;
  #last: { readonly trailers: Uint8Array; readonly sent: () => void } | undefined;
  /** The client has sent its last frame; `ended` may still wait behind what is held. */
  #isEndedThere = false;
  #hasHeardEnd = false;
  #isEndedHere = false;
  #isClosed = false;

  constructor(id: number, sendWindow: number, carrier: StreamCarrier) {
    this.id = id;
    this.#sendWindow = sendWindow;
    this.#carrier = carrier;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isEndedThere(): boolean {
    return this.#isEndedThere;
  }

  /** From now on what comes is heard, or from `resume` on where it is to stay paused. */
  listen(listener: StreamListener, isPaused = false): void {
    this.#listener = listener;
    if (!isPaused) this.resume();
  }

  /** The first answer: an encoded block of headers. */
  respond(block: Uint8Array, isLast: boolean): void {
    if (this.#isClosed) return;
    this.#sendHeaders(block, isLast);
  }

  /** Data that stands behind `HEAD_BYTES` free bytes; `written` is called when the system has taken it. */
  write(framed: Buffer, written: () => void): void {
    if (this.#isClosed) return;
    const size = framed.length - HEAD_BYTES;
    const carrier = this.#carrier;
    if (this.#waiting || size > this.#sendWindow || size > carrier.sendWindow || size > carrier.longestFrame) {
      this.#waiting ??= [];
      this.#waiting.push({ bytes: framed, at: HEAD_BYTES, written });
      return this.sendWaiting();
    }
    this.#take(size);
    carrier.send(writeHead(framed, { type: FRAME.data, flags: 0, stream: this.id }), written);
  }

  /** Ends our side with an encoded block of trailers, when the client lets us send all that was written; calls back then. */
  end(trailers: Uint8Array, sent: () => void): void {
    this.#last = { trailers, sent };
    this.sendWaiting();
  }

  /** Ends both sides at once; what waits is dropped. */
  reset(code: ErrorCode): void {
    if (!this.#isClosed) this.#carrier.reset(this, code);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (let chunk = this.#held?.shift(); chunk; chunk = this.#isPaused ? undefined : this.#held?.shift())
      this.#deliver(chunk, chunk.length);
    this.#deliverEnd();
  }

  /** For the connection: data with its padding, which counts as well. False where the client has sent too much. */
  receive(chunk: Buffer, size: number): boolean {
    this.#receiveWindow -= size;
    if (this.#receiveWindow < 0) return false;
    if (this.#isPaused) this.#hold(chunk, size);
    else this.#deliver(chunk, size);
    return true;
  }

  /** For the connection: the client has sent its last frame. */
  endedThere(): void {
    this.#isEndedThere = true;
    this.#deliverEnd();
    this.#closeIfDone();
  }

  /** For the connection: the client allows so much more, or less where it is negative. */
  widen(bytes: number): number {
    this.#sendWindow += bytes;
    return this.#sendWindow;
  }

  sendWaiting(): void {
    if (this.#isClosed) return;
    for (let first = this.#waiting?.[0]; first; first = this.#waiting?.[0]) {
      const { sendWindow, longestFrame } = this.#carrier;
      const left = first.bytes.length - first.at;
      const size = Math.min(left, this.#sendWindow, sendWindow, longestFrame);
      if (size < left && size <= 0) {
        if (sendWindow <= 0) this.#carrier.blocked(this);
        return;
      }
      const piece = first.bytes.subarray(first.at, first.at + size);
      first.at += size;
      this.#take(size);
      if (size === left) this.#waiting?.shift();
      this.#carrier.send(
        frameOf({ type: FRAME.data, flags: 0, stream: this.id }, piece),
        size === left ? first.written : undefined,
      );
    }
    this.#waiting = undefined;
    const last = this.#last;
    this.#last = undefined;
    if (!last) return;
    this.#sendHeaders(last.trailers, true);
    last.sent();
  }

  /** For the connection: nothing is sent or heard any more. `closed` comes later in this turn. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#held = undefined;
    this.#waiting = undefined;
    this.#carrier.forget(this);
    queueMicrotask(() => {
      const listener = this.#listener;
      this.#listener = undefined;
      listener?.closed();
    });
  }

  #take(size: number): void {
    this.#sendWindow -= size;
    this.#carrier.sendWindow -= size;
  }

  #sendHeaders(block: Uint8Array, isLast: boolean): void {
    const flags = FLAG.endHeaders | (isLast ? FLAG.endStream : 0);
    this.#carrier.send(frameOf({ type: FRAME.headers, flags, stream: this.id }, block));
    if (!isLast) return;
    this.#isEndedHere = true;
    this.#closeIfDone();
  }

  #hold(chunk: Buffer, size: number): void {
    this.#held ??= [];
    // Copied: it would keep all that came with it, which may be many times as much.
    if (chunk.length > 0) this.#held.push(Buffer.from(chunk));
    // A buffer takes more than a hundred times the room of the one byte that it may hold.
    if (this.#held.length > MOST_HELD) this.#held = [Buffer.concat(this.#held)];
    this.#consume(size - chunk.length);
  }

  #deliver(chunk: Buffer, size: number): void {
    if (chunk.length > 0) this.#listener?.data(chunk);
    this.#consume(size);
  }

  /** Half a window at a time: a frame for each message would cost as much as the message. */
  #consume(bytes: number): void {
    this.#consumed += bytes;
    if (this.#consumed * 2 < FIRST_WINDOW_BYTES || this.#isEndedThere || this.#isClosed) return;
    this.#carrier.widen(this.id, this.#consumed);
    this.#receiveWindow += this.#consumed;
    this.#consumed = 0;
  }

  #deliverEnd(): void {
    const isBehind = this.#isPaused || (this.#held?.length ?? 0) > 0;
    if (!this.#isEndedThere || isBehind || this.#hasHeardEnd || this.#isClosed) return;
    this.#hasHeardEnd = true;
    this.#listener?.ended();
  }

  #closeIfDone(): void {
    if (this.#isEndedHere && this.#isEndedThere) this.close();
  }
}
