import type { Duplex } from 'node:stream';
import type { Clock } from '#core/clock.ts';
import { httpFault, PROBLEM_MEDIA, toProblem } from './problem.ts';
import type { HttpProblem } from './wire/problem.ts';

// Long enough for a client to read a few hundred bytes.
const READ_WITHIN_MS = 5_000;

/** Sends a problem where there is no reply object, then closes the connection if the client does not. */
export function closeWith(socket: Duplex, problem: HttpProblem, clock: Clock): void {
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    `content-type: ${PROBLEM_MEDIA}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.once(
    'close',
    clock.alarm(READ_WITHIN_MS, () => socket.destroy()),
  );
}

// The client closed the connection before its request was whole.
const CLOSED = new Set(['ECONNRESET', 'HPE_INVALID_EOF_STATE']);
const STATUS: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Refuses what is not valid HTTP, or did not come in time. */
export function refuseRaw({ code = '' }: Pick<NodeJS.ErrnoException, 'code'>, socket: Duplex, clock: Clock): void {
  if (CLOSED.has(code) || !socket.writable) return void socket.destroy();
  const why = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'The request took too long.' : 'This is not a valid HTTP request.';
  closeWith(
    socket,
    toProblem(httpFault(STATUS[code] ?? 400, 'invalid', why, { at: 'request' }), (text) => text),
    clock,
  );
}
