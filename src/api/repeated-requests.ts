// Programs that submit many sessions send nearly the same request again and again. Node's parser, its request and its
// response cost more than all that we do for it: a request with a known head is taken from the socket instead.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readPieces } from '../edge/read-pieces.ts';
import { bodyBehind, wholeRequest } from './whole-request.ts';

/** Takes a body, and calls back when it was answered; or answers false: then Node gets the request. */
export type Taker = (body: Buffer, answered: () => void) => boolean;

type Heard = (chunk: Buffer) => void;

interface Known {
  readonly around: readonly [Buffer, Buffer];
  readonly take: Taker;
}

/**
 * Reads a connection in front of Node's parser, from its first byte on, as long as each piece is exactly one plain request:
 * then the parser stands between two requests at the end of each. With the first other piece Node has the connection for good.
 */
class ReadAhead {
  readonly #socket: Socket;
  readonly #toParser: Heard;
  readonly #giveBack: () => void;
  readonly #whenAnswered = (): void => this.#answered();
  #known: Known | undefined;
  #last: ReturnType<typeof wholeRequest>;
  // Answers go out in the order of requests: while Node has some, or we answer one, the next one waits or goes to Node.
  #atNode = 0;
  #isBusy = false;
  #waiting: Buffer[] = [];

  constructor(socket: Socket, toParser: Heard) {
    this.#socket = socket;
    this.#toParser = toParser;
    // Node reads a socket past JavaScript until someone listens; then its own listener hears too.
    this.#giveBack = readPieces(socket, (piece) => this.#hear(piece));
    socket.off('data', toParser);
  }

  /** Node's parser has read a request. */
  begun(response: ServerResponse): void {
    this.#atNode += 1;
    response.once('close', () => {
      this.#atNode -= 1;
    });
  }

  /** From now on requests with the head of this one, which is being handled, go to `take`. */
  learn({ method, url, rawHeaders }: IncomingMessage, take: Taker): void {
    const last = this.#last;
    if (!last?.around || this.#atNode !== 1) return;
    const lines = [`${method} ${url} HTTP/1.1`, ...rawHeaders];
    // They are the same by construction: both are all that came since the last request.
    if (lines.length !== last.lines.length || lines.some((line, n) => line !== last.lines[n])) return;
    this.#known = { around: last.around, take };
  }

  #hear(chunk: Buffer): void {
    if (this.#isBusy) {
      this.#waiting.push(chunk);
      return void this.#socket.pause();
    }
    const body = this.#known && this.#atNode === 0 ? bodyBehind(this.#known.around, chunk) : undefined;
    // It may be answered at once.
    this.#isBusy = true;
    if (body && this.#known?.take(body, this.#whenAnswered)) return;
    this.#isBusy = false;
    this.#pass(chunk);
  }

  #answered(): void {
    const socket = this.#socket;
    // A client that does not read its answers gets no more of them.
    if (socket.writableNeedDrain) return void socket.once('drain', () => this.#answered());
    this.#isBusy = false;
    if (this.#waiting.length === 0) return;
    socket.resume();
    this.#hear(Buffer.concat(this.#waiting.splice(0)));
  }

  #pass(chunk: Buffer): void {
    this.#last = wholeRequest(chunk);
    if (!this.#last) {
      this.#socket.on('data', this.#toParser);
      this.#giveBack();
    }
    this.#toParser(chunk);
  }
}

export interface RepeatedRequests {
  /** Requests like this one go to `take`, where the connection has carried nothing but plain ones so far. */
  learn(request: IncomingMessage, take: Taker): void;
}

/** Watches the connections of a server, which gets them before anything was read. */
export function watchRepeated(server: Server): RepeatedRequests {
  const ahead = new WeakMap<Socket, ReadAhead>();
  server.on('connection', (socket: Socket) => {
    const [toParser, ...others] = socket.listeners('data') as Heard[];
    if (toParser && others.length === 0) ahead.set(socket, new ReadAhead(socket, toParser));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
    ahead.get(socket)?.begun(response),
  );
  return { learn: (request, take) => ahead.get(request.socket)?.learn(request, take) };
}
