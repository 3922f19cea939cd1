import { type IncomingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#core/clock.ts';
import type { Closing } from './register.ts';
import type { WholeMessage } from './whole-message.ts';

/** A request, and the way of its answer. */
export interface DirectExchange {
  readonly socket: Socket;
  readonly headers: IncomingHttpHeaders;
  /** Closes when the answer was sent or the caller is gone. */
  readonly response: Closing;
  /** Names and values of headers by turns. */
  send(code: number, headers: string[], text: string): void;
}

/** What Node reads and writes. */
export function nodesExchange({ socket, headers }: WholeMessage, response: ServerResponse): DirectExchange {
  return {
    socket,
    headers,
    response,
    send(code, sent, text) {
      if (response.destroyed) return;
      sent.push('content-length', String(Buffer.byteLength(text)));
      response.writeHead(code, sent);
      response.end(text);
    },
  };
}

/** As Node would write it. */
export class RawExchange implements DirectExchange {
  readonly socket: Socket;
  readonly headers: IncomingHttpHeaders;
  readonly #tail: () => string;

  constructor(socket: Socket, headers: IncomingHttpHeaders, tail: () => string) {
    this.socket = socket;
    this.headers = headers;
    this.#tail = tail;
  }

  get response(): Socket {
    return this.socket;
  }

  send(code: number, headers: string[], text: string): void {
    if (this.socket.destroyed) return;
    let head = `HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\n`;
    for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
    const bytes = Buffer.byteLength(text);
    // Text without other characters is written without a look at each of them.
    this.socket.write(
      `${head}content-length: ${bytes}\r\n${this.#tail()}${text}`,
      bytes === text.length ? 'latin1' : 'utf8',
    );
  }
}

/** The headers that Node adds to each answer on a kept connection; the date is worded once a second. */
export function tailOf(clock: Pick<Clock, 'now'>, idleMs: number): () => string {
  let second = 0;
  let tail = '';
  return () => {
    const nowSecond = Math.floor(clock.now() / 1_000);
    if (nowSecond === second) return tail;
    second = nowSecond;
    const date = new Date(nowSecond * 1_000).toUTCString();
    tail = `Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleMs / 1_000)}\r\n\r\n`;
    return tail;
  };
}
