import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Clock, systemClock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import { tame } from '#wire/foreign-text.ts';
import { LONGEST_MESSAGE_BYTES } from '#wire/messages.ts';
import { ERROR, type ErrorCode, HEAD_BYTES } from './http2/frames.ts';
import { headerBlock } from './http2/hpack.ts';
import type { Http2Stream, StreamListener } from './http2/stream.ts';
import { asFrame, MessageReader } from './message-reader.ts';
import type { RpcCaller, RpcHandler, RpcListener, RpcStream } from './transport.ts';

const LONGEST_STATUS_TEXT = 1_024;
// The longest message from a caller whose credentials were not checked.
const LONGEST_UNCHECKED_BYTES = 64 * 1024;
// Clients end their part when they have the status: grpc-go and grpc-js do so at once.
const FAREWELL_MS = 5_000;
const ANSWER = { ':status': '200', 'content-type': 'application/grpc+proto' };
const ANSWER_BLOCK = headerBlock(ANSWER);

/** The status that a caller gets; an internal error shows no details. */
export function grpcStatusOf(fault: Fault): { code: number; details: string } {
  const { grpc: code } = FAULTS[fault.kind];
  if (fault.kind === 'internal') return { code, details: 'Internal server error. See the log of the server.' };
  // A status travels as a URI, which cannot have half a surrogate pair.
  return { code, details: tame(`${fault.message} ${fault.remedy}`, LONGEST_STATUS_TEXT) };
}

function statusHeaders(fault: Fault | undefined): Record<string, string> {
  const { code, details } = fault ? grpcStatusOf(fault) : { code: 0, details: 'OK' };
  return { 'grpc-status': String(code), 'grpc-message': encodeURI(details) };
}

/** Shared by all calls of one path. */
export interface Service {
  readonly handler: RpcHandler;
  readonly clock: Clock;
  /** A handler threw an internal error. */
  failed(fault: Fault): void;
}

/** One open call; a single object, since every connected agent keeps one. */
export class OpenCall implements RpcStream, RpcCaller, StreamListener {
  readonly #stream: Http2Stream;
  readonly #headers: ReadonlyMap<string, string>;
  readonly #socket: Socket;
  readonly #service: Service;
  readonly #reader = new MessageReader(LONGEST_UNCHECKED_BYTES);
  #listener: RpcListener | undefined;
  #hasAnswered = false;
  #hasEnded = false;
  #isClosed = false;
  #isPaused = false;
  #isReading = false;
  // Its last messages may still wait for `resume`.
  #isHalfClosed = false;
  // Ends the stream after a while: when its caller gives up, later when it does not end its part.
  #cancelAlarm: (() => void) | undefined;

  constructor(stream: Http2Stream, headers: ReadonlyMap<string, string>, socket: Socket, service: Service) {
    this.#stream = stream;
    this.#headers = headers;
    this.#socket = socket;
    this.#service = service;
  }

  /** Opens its handler, and gives it what comes. The caller may say how long it waits: then it reads no status. */
  start(timeoutMs: number | undefined): void {
    if (timeoutMs !== undefined) this.#resetAfter(systemClock, timeoutMs, ERROR.cancel);
    this.#guarded(() => {
      this.#listener = this.#service.handler(this);
    });
    this.#stream.listen(this, this.#isPaused);
  }

  data(chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#guarded(() => this.#reader.add(chunk));
    this.#deliver();
  }

  ended(): void {
    this.#isHalfClosed = true;
    this.#deliver();
  }

  closed(): void {
    this.#cancelAlarm?.();
    this.#release();
  }

  get caller(): RpcCaller {
    return this;
  }

  get peerAddress(): string {
    // A dual-stack socket shows IPv4 callers in their IPv6 form.
    return (this.#socket.remoteAddress ?? 'unknown').replace(/^::ffff:/i, '');
  }

  get certificateName(): string | undefined {
    if (!(this.#socket instanceof TLSSocket)) return undefined;
    const name: unknown = this.#socket.getPeerCertificate().subject?.CN;
    return typeof name === 'string' ? name : undefined;
  }

  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  write(message: Uint8Array, written: () => void): void {
    if (this.#hasEnded || this.#isGone) return;
    this.#answer();
    this.#stream.write(asFrame(message, HEAD_BYTES), () => {
      if (!this.#isClosed) written();
    });
  }

  pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#deliver();
    if (!this.#isPaused) this.#stream.resume();
  }

  trust(): void {
    this.#reader.longest = LONGEST_MESSAGE_BYTES;
  }

  end(fault?: Fault): void {
    if (this.#hasEnded || this.#isGone) return;
    this.#hasEnded = true;
    const status = statusHeaders(fault);
    if (this.#hasAnswered) return this.#stream.end(headerBlock(status), () => this.#over());
    this.#stream.respond(headerBlock({ ...ANSWER, ...status }), true);
    this.#over();
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** `closed` comes a moment later. */
  get #isGone(): boolean {
    return this.#isClosed || this.#stream.isClosed;
  }

  #answer(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    this.#stream.respond(ANSWER_BLOCK, false);
  }

  /** A handler may pause or resume within a message: then the one loop goes on. */
  #deliver(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#guarded(() => {
      while (!(this.#isPaused || this.#hasEnded)) {
        const message = this.#reader.next();
        if (!message) return this.#deliverEnd();
        this.#listener?.message(message);
      }
    });
    this.#isReading = false;
  }

  #deliverEnd(): void {
    if (!this.#isHalfClosed) return;
    this.#isHalfClosed = false;
    this.#listener?.halfClosed();
  }

  /** The status was sent. What the caller sends until it ends its part is dropped. */
  #over(): void {
    const stream = this.#stream;
    stream.resume();
    if (!stream.isClosed) this.#resetAfter(this.#service.clock, FAREWELL_MS, ERROR.none);
    queueMicrotask(() => this.#release());
  }

  #resetAfter(clock: Clock, afterMs: number, code: ErrorCode): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = clock.alarm(afterMs, () => this.#stream.reset(code));
  }

  #release(): void {
    this.#isClosed = true;
    const listener = this.#listener;
    this.#listener = undefined;
    this.#guarded(() => listener?.closed());
  }

  #guarded(handle: () => void): void {
    try {
      handle();
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === 'internal') this.#service.failed(fault);
      this.end(fault);
    }
  }
}
