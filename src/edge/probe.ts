// Health probes of a replica that knows no holder: it answers them itself instead of relaying.
import type { Socket } from 'node:net';

const LONGEST_LINE = 2_048;
const PROBE = /^GET (\/healthz|\/readyz)(?:\?\S*)? HTTP\/1\.[01]$/;

function answer(status: string, type: string, body: object): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status}`,
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(text)}`,
    'cache-control: no-store',
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}

function notReady(why: string): string {
  const problem = { type: 'about:blank', title: 'Service Unavailable', status: 503, kind: 'unavailable', detail: why };
  return answer('503 Service Unavailable', 'application/problem+json', problem);
}

/** Answers a probe at once; anything else is left as it came, and handed on. */
export function answerProbe(socket: Socket, whyNotReady: () => string, otherwise: () => void): void {
  let head = Buffer.alloc(0);
  const read = (): void => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n');
    // Neither a long line nor a handshake of TLS can be a probe.
    const isUndecided = end < 0 && head.length <= LONGEST_LINE && head[0] !== 0x16;
    if (head.length === 0 || isUndecided) return;
    socket.off('readable', read);
    const path = PROBE.exec(head.subarray(0, Math.max(0, end)).toString('latin1'))?.[1];
    if (path === '/healthz') socket.end(answer('200 OK', 'application/json', { status: 'ok' }));
    else if (path === '/readyz') socket.end(notReady(whyNotReady()));
    else {
      socket.unshift(head);
      otherwise();
    }
  };
  socket.on('readable', read);
  read();
}
