// The server's side of HTTP/2 (RFC 9113), as much of it as gRPC takes. In Node's own a message passes through streams of the
// socket, of the session and of the call: with it a session took a tenth more processor time.
import type { Socket } from 'node:net';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { SharedAlarm } from '#wire/shared-alarm.ts';
import { readPieces } from '../../edge/read-pieces.ts';
import { FloodLimit } from './flood-limit.ts';
import { FrameReader } from './frame-reader.ts';
import {
  ERROR,
  type ErrorCode,
  FIRST_WINDOW_BYTES,
  FLAG,
  FRAME,
  frameOf,
  goAwayFrame,
  HEAD_BYTES,
  LARGEST_LONGEST_FRAME,
  LARGEST_WINDOW_BYTES,
  LONGEST_FRAME_BYTES,
  number31,
  numberFrame,
  PING_BYTES,
  SETTING,
  SETTING_BYTES,
  settingsFrame,
} from './frames.ts';
import { HeaderReader, LONGEST_LIST_BYTES } from './hpack.ts';
import { Outgoing } from './outgoing.ts';
import { areTrailers, requestHeaders } from './request-headers.ts';
import { Http2Stream, type StreamCarrier } from './stream.ts';

const NOTHING = Buffer.alloc(0);
const MOST_HEADER_FRAMES = 16;

export interface Http2Options {
  readonly mostStreams: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Runs it now, or in a later turn in the order of calls. */
  inTurn(work: () => void): void;
  /** For what may wait a moment. */
  readonly later: SharedAlarm;
  /** A request: what comes on it waits until someone listens. */
  taken(stream: Http2Stream, headers: ReadonlyMap<string, string>): void;
  /** No stream is open any more. */
  emptied(): void;
}

const ourSettings = (mostStreams: number): Buffer =>
  settingsFrame([
    [SETTING.mostStreams, mostStreams],
    [SETTING.longestHeaders, LONGEST_LIST_BYTES],
  ]);

interface HeaderBlock {
  readonly stream: number;
  readonly isLast: boolean;
  readonly parts: Buffer[];
  bytes: number;
}

/** One connection of a client. A class, since every connected agent has one. */
export class Http2Connection implements StreamCarrier {
  sendWindow = FIRST_WINDOW_BYTES;
  longestFrame = LONGEST_FRAME_BYTES;
  readonly #socket: Socket;
  readonly #options: Http2Options;
  readonly #outgoing: Outgoing;
  readonly #floodLimit = new FloodLimit();
  readonly #frames = new FrameReader();
  readonly #headers = new HeaderReader();
  readonly #streams = new Map<number, Http2Stream>();
  /** Those that the window of the connection holds up. */
  readonly #blocked = new Set<Http2Stream>();
  readonly #taken = (frame: Buffer): boolean => {
    this.#take(frame);
    return !this.#isOver;
  };
  #firstWindow = FIRST_WINDOW_BYTES;
  #consumed = 0;
  #hasSettings = false;
  #block: HeaderBlock | undefined;
  #lastStream = 0;
  #pinged: (() => void) | undefined;
  #isClosing = false;
  #isOver = false;

  constructor(socket: Socket, options: Http2Options) {
    this.#socket = socket;
    this.#outgoing = new Outgoing(socket, options.later);
    this.#options = options;
    readPieces(socket, (piece) => this.#hear(piece));
    socket.on('close', () => this.#closed());
    this.send(ourSettings(options.mostStreams));
    // It may have been passed on paused.
    socket.resume();
  }

  /** Calls back when the client has answered. */
  ping(answered: () => void): void {
    this.#pinged = answered;
    this.send(frameOf({ type: FRAME.ping, flags: 0, stream: 0 }, Buffer.alloc(PING_BYTES)));
  }

  /** Takes no more requests, and closes the connection when the open ones are over. */
  close(): void {
    if (this.#isClosing || this.#isOver) return;
    this.#isClosing = true;
    this.send(goAwayFrame(this.#lastStream, ERROR.none));
    this.#endIfDone();
  }

  send(bytes: Buffer, written?: () => void): void {
    if (!this.#isOver) this.#outgoing.send(bytes, written);
  }

  widen(stream: number, bytes: number): void {
    this.send(numberFrame(FRAME.windowUpdate, stream, bytes));
  }

  reset(stream: Http2Stream, code: ErrorCode): void {
    this.send(numberFrame(FRAME.reset, stream.id, code));
    stream.close();
  }

  blocked(stream: Http2Stream): void {
    this.#blocked.add(stream);
  }

  forget(stream: Http2Stream): void {
    this.#blocked.delete(stream);
    if (!this.#streams.delete(stream.id) || this.#streams.size > 0) return;
    this.#options.emptied();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (!this.#isClosing || this.#streams.size > 0) return;
    this.#outgoing.flush();
    this.#socket.end();
  }

  #closed(): void {
    this.#isOver = true;
    for (const stream of this.#streams.values()) stream.close();
  }

  /** The client broke the protocol, or asks for too much. */
  #fail(code: ErrorCode): void {
    if (this.#isOver) return;
    this.send(goAwayFrame(this.#lastStream, code));
    this.#isOver = true;
    // When the reason has left; who does not read it is cut off by its next ping.
    queueMicrotask(() => this.#socket.destroySoon());
    this.#closed();
  }

  /** One piece may hold thousands of frames, and many clients may send such pieces: others have their turn in between. */
  #hear(chunk: Buffer): void {
    let isRead = false;
    this.#options.inTurn(() => {
      isRead = true;
      const error = this.#isOver ? undefined : this.#frames.read(chunk, this.#taken);
      if (error !== undefined) this.#fail(error);
      if (this.#socket.isPaused()) this.#socket.resume();
    });
    if (!isRead) this.#socket.pause();
  }

  #take(frame: Buffer): void {
    const type = frame[3] as number;
    const flags = frame[4] as number;
    const stream = number31(frame, 5);
    if (type === FRAME.data) return this.#data(stream, flags, frame.subarray(HEAD_BYTES));
    const isInBlock = this.#block !== undefined;
    // A block of headers is not interrupted, and the first frame says what the client can do.
    if (isInBlock !== (type === FRAME.continuation)) return this.#fail(ERROR.protocol);
    if (!this.#hasSettings && type !== FRAME.settings) return this.#fail(ERROR.protocol);
    const payload = frame.subarray(HEAD_BYTES);
    switch (type) {
      case FRAME.headers:
        return this.#begin(stream, flags, payload);
      case FRAME.continuation:
        return this.#continue(stream, flags, payload);
      case FRAME.windowUpdate:
        return this.#widened(stream, payload);
      case FRAME.ping:
        return this.#ping(stream, flags, payload);
      case FRAME.settings:
        return this.#settings(stream, flags, payload);
      case FRAME.reset:
        return this.#resetByClient(stream, payload);
      case FRAME.pushPromise:
        return this.#fail(ERROR.protocol);
      case FRAME.priority:
        // Deprecated: nothing follows from it.
        if (stream === 0) this.#fail(ERROR.protocol);
        else if (payload.length !== 5) this.#fail(ERROR.frameSize);
        return;
      case FRAME.goAway:
        if (stream !== 0) this.#fail(ERROR.protocol);
        else if (payload.length < 8) this.#fail(ERROR.frameSize);
    }
  }

  /** The payload without its padding, or undefined where that is longer than all of it. */
  #unpadded(flags: number, payload: Buffer): Buffer | undefined {
    if (!(flags & FLAG.padded)) return payload;
    const padding = payload[0] ?? 0;
    if (payload.length > padding) return payload.subarray(1, payload.length - padding);
    this.#fail(ERROR.protocol);
    return undefined;
  }

  /** The client has opened no such stream; even ones are ours, and we open none. */
  #isIdle(id: number): boolean {
    return id % 2 === 0 || id > this.#lastStream;
  }

  #data(id: number, flags: number, payload: Buffer): void {
    if (this.#block || this.#isIdle(id)) return this.#fail(ERROR.protocol);
    const chunk = this.#unpadded(flags, payload);
    if (!chunk) return;
    this.#consume(payload.length);
    const stream = this.#streams.get(id);
    // It may be one that we have given up while this was on its way.
    if (!stream) return this.send(numberFrame(FRAME.reset, id, ERROR.streamClosed));
    if (stream.isEndedThere) return this.#refuse(id, ERROR.streamClosed);
    if (!stream.receive(chunk, payload.length)) return this.#refuse(id, ERROR.flowControl);
    if (flags & FLAG.endStream) stream.endedThere();
  }

  /** All streams share the window of the connection: one that is paused must not hold up the others. */
  #consume(bytes: number): void {
    this.#consumed += bytes;
    if (this.#consumed * 2 < FIRST_WINDOW_BYTES) return;
    this.widen(0, this.#consumed);
    this.#consumed = 0;
  }

  #begin(stream: number, flags: number, payload: Buffer): void {
    let part = this.#unpadded(flags, payload);
    if (!part) return;
    if (stream % 2 === 0) return this.#fail(ERROR.protocol);
    if (flags & FLAG.priority) {
      if (part.length < 5) return this.#fail(ERROR.frameSize);
      part = part.subarray(5);
    }
    this.#block = { stream, isLast: (flags & FLAG.endStream) !== 0, parts: [], bytes: 0 };
    this.#continue(stream, flags, part);
  }

  #continue(stream: number, flags: number, part: Buffer): void {
    const block = this.#block;
    if (block?.stream !== stream) return this.#fail(ERROR.protocol);
    block.bytes += part.length;
    // CVE-2024-27316: a block without an end.
    if (block.bytes > LONGEST_LIST_BYTES || block.parts.length >= MOST_HEADER_FRAMES)
      return this.#fail(ERROR.enhanceYourCalm);
    const isWhole = (flags & FLAG.endHeaders) !== 0;
    // Copied where it waits for more: it is a window on a larger buffer.
    block.parts.push(isWhole ? part : Buffer.from(part));
    if (!isWhole) return;
    this.#block = undefined;
    this.#request(block);
  }

  /** Every block is read, also that of a request which is refused: later ones build on it. */
  #read({ parts }: HeaderBlock): readonly (readonly [string, string])[] | undefined {
    try {
      return this.#headers.read(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts));
    } catch (thrown) {
      this.#fail(Fault.from(thrown).kind === 'throttled' ? ERROR.enhanceYourCalm : ERROR.compression);
      return undefined;
    }
  }

  #request(block: HeaderBlock): void {
    const list = this.#read(block);
    if (!list) return;
    const { stream: id, isLast } = block;
    if (id <= this.#lastStream) return this.#trailers(id, isLast && areTrailers(list));
    this.#lastStream = id;
    const headers = requestHeaders(list);
    if (!headers) return this.#refuse(id, ERROR.protocol);
    if (this.#isClosing || this.#streams.size >= this.#options.mostStreams)
      return this.#refuse(id, ERROR.refusedStream);
    const stream = new Http2Stream(id, this.#firstWindow, this);
    this.#streams.set(id, stream);
    if (isLast) stream.endedThere();
    this.#options.taken(stream, headers);
  }

  #trailers(id: number, isValid: boolean): void {
    const stream = this.#streams.get(id);
    if (!stream) return this.#refuse(id, ERROR.streamClosed);
    if (stream.isEndedThere) return this.#refuse(id, ERROR.streamClosed);
    if (!isValid) return this.#refuse(id, ERROR.protocol);
    stream.endedThere();
  }

  #widened(id: number, payload: Buffer): void {
    if (payload.length !== 4) return this.#fail(ERROR.frameSize);
    if (id !== 0 && this.#isIdle(id)) return this.#fail(ERROR.protocol);
    const bytes = number31(payload, 0);
    const stream = this.#streams.get(id);
    if (id !== 0 && !stream) return;
    if (stream) {
      if (bytes === 0) return this.#refuse(id, ERROR.protocol);
      if (stream.widen(bytes) > LARGEST_WINDOW_BYTES) return this.#refuse(id, ERROR.flowControl);
      return stream.sendWaiting();
    }
    this.sendWindow += bytes;
    if (bytes === 0) return this.#fail(ERROR.protocol);
    if (this.sendWindow > LARGEST_WINDOW_BYTES) return this.#fail(ERROR.flowControl);
    for (const each of this.#blocked) {
      if (this.sendWindow <= 0) return;
      this.#blocked.delete(each);
      each.sendWaiting();
    }
  }

  #ping(stream: number, flags: number, payload: Buffer): void {
    if (stream !== 0) return this.#fail(ERROR.protocol);
    if (payload.length !== PING_BYTES) return this.#fail(ERROR.frameSize);
    // grpc-go sends one for nearly every message: answers of their own would cost as many writes as the messages.
    if (!(flags & FLAG.ack))
      return this.#outgoing.sendLater(frameOf({ type: FRAME.ping, flags: FLAG.ack, stream: 0 }, payload));
    const answered = this.#pinged;
    this.#pinged = undefined;
    answered?.();
  }

  #settings(stream: number, flags: number, payload: Buffer): void {
    if (stream !== 0) return this.#fail(ERROR.protocol);
    const isAck = (flags & FLAG.ack) !== 0;
    if (isAck ? payload.length > 0 : payload.length % SETTING_BYTES !== 0) return this.#fail(ERROR.frameSize);
    if (isAck) return;
    this.#hasSettings = true;
    this.#countCostly();
    for (let at = 0; at < payload.length && !this.#isOver; at += SETTING_BYTES)
      this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    this.send(frameOf({ type: FRAME.settings, flags: FLAG.ack, stream: 0 }, NOTHING));
    for (const each of this.#streams.values()) each.sendWaiting();
  }

  #set(setting: number, value: number): void {
    if (setting === SETTING.enablePush && value > 1) return this.#fail(ERROR.protocol);
    if (setting === SETTING.longestFrame) {
      if (value < LONGEST_FRAME_BYTES || value > LARGEST_LONGEST_FRAME) return this.#fail(ERROR.protocol);
      this.longestFrame = value;
    }
    if (setting !== SETTING.initialWindow) return;
    if (value > LARGEST_WINDOW_BYTES) return this.#fail(ERROR.flowControl);
    const more = value - this.#firstWindow;
    this.#firstWindow = value;
    for (const stream of this.#streams.values())
      if (stream.widen(more) > LARGEST_WINDOW_BYTES) return this.#fail(ERROR.flowControl);
  }

  /** The client has given up on a stream. */
  #resetByClient(id: number, payload: Buffer): void {
    if (payload.length !== 4) return this.#fail(ERROR.frameSize);
    if (this.#isIdle(id)) return this.#fail(ERROR.protocol);
    this.#countCostly();
    this.#streams.get(id)?.close();
  }

  #refuse(id: number, code: ErrorCode): void {
    this.#countCostly();
    this.send(numberFrame(FRAME.reset, id, code));
    this.#streams.get(id)?.close();
  }

  #countCostly(): void {
    if (!this.#floodLimit.isWithin(this.#options.clock)) this.#fail(ERROR.enhanceYourCalm);
  }
}
