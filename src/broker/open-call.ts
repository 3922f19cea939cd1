import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Clock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import { asFrame, MessageReader } from './message-reader.ts';
import type { RpcCaller, RpcHandler, RpcListener, RpcStream } from './transport.ts';
import { LONGEST_MESSAGE_BYTES, LONGEST_UNCHECKED_BYTES, tame } from './wire/frame.ts';

const LONGEST_STATUS_TEXT = 1_024;
// Clients end their part when they have the status: grpc-go and grpc-js do so at once.
const FAREWELL_MS = 5_000;
const ANSWER = { ':status': 200, 'content-type': 'application/grpc+proto' };

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
export class OpenCall implements RpcStream, RpcCaller {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #socket: Duplex;
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

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, socket: Duplex, service: Service) {
    this.#stream = stream;
    this.#headers = headers;
    this.#socket = socket;
    this.#service = service;
  }

  /** Opens its handler, and gives it what comes. */
  start(): void {
    const stream = this.#stream;
    stream.on('close', () => this.#closed());
    this.#guarded(() => {
      this.#listener = this.#service.handler(this);
    });
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => {
      this.#isHalfClosed = true;
      this.#deliver();
    });
    if (this.#isPaused) stream.pause();
  }

  get caller(): RpcCaller {
    return this;
  }

  get peerAddress(): string {
    // A dual-stack socket shows IPv4 callers in their IPv6 form.
    return ((this.#socket as Socket).remoteAddress ?? 'unknown').replace(/^::ffff:/i, '');
  }

  get certificateName(): string | undefined {
    if (!(this.#socket instanceof TLSSocket)) return undefined;
    const name: unknown = this.#socket.getPeerCertificate().subject?.CN;
    return typeof name === 'string' ? name : undefined;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  write(message: Uint8Array, written: () => void): void {
    if (this.#hasEnded || this.#isGone) return;
    this.#answer();
    this.#stream.write(asFrame(message), (error) => {
      if (!error && !this.#isClosed) written();
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
    const stream = this.#stream;
    if (this.#hasAnswered) {
      stream.once('wantTrailers', () => {
        stream.sendTrailers(status);
        this.#over();
      });
      stream.end();
    } else {
      stream.respond({ ...ANSWER, ...status }, { endStream: true });
      this.#over();
    }
  }

  cut(): void {
    this.#socket.destroy();
  }

  /** A stream refuses answers some turns before it says `close`. */
  get #isGone(): boolean {
    return this.#isClosed || this.#stream.destroyed || this.#stream.closed;
  }

  #answer(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    this.#stream.respond(ANSWER, { waitForTrailers: true });
  }

  #take(chunk: Buffer): void {
    if (this.#hasEnded) return;
    this.#guarded(() => this.#reader.add(chunk));
    this.#deliver();
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

  /** The status was sent. What the caller sends until it closes is read and dropped: an unread stream would never close. */
  #over(): void {
    const stream = this.#stream;
    stream.resume();
    // As gRPC servers end a stream whose caller goes on, but later: nghttp2 drops a status that waits behind a reset.
    if (!stream.readableEnded)
      stream.once(
        'close',
        this.#service.clock.alarm(FAREWELL_MS, () => stream.close(constants.NGHTTP2_NO_ERROR)),
      );
    process.nextTick(() => this.#closed());
  }

  #closed(): void {
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
