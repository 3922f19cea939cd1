import WebSocket from 'ws';
import type { Fault } from '#core/fault.ts';
import { answeredRefusal, type Client } from './client.ts';

/** A WebSocket at that path of the API. Redirects are not followed, so the token goes to this address alone. */
export function socketTo({ place }: Client, path: string): WebSocket {
  const url = new URL(`/api/v1${path}`, place.address);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return new WebSocket(url, {
    followRedirects: false,
    perMessageDeflate: false,
    ...(place.token && { headers: { authorization: `Bearer ${place.token}` } }),
  });
}

// A problem of ours is far shorter.
const LONGEST_ANSWER = 64 * 1024;

/** The server refused the upgrade. */
export function onRefusal({ place }: Client, socket: WebSocket, reject: (fault: Fault) => void): void {
  socket.on('unexpected-response', (_request, reply) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    reply.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= LONGEST_ANSWER) parts.push(part);
      else reply.destroy();
    });
    // An answer that breaks off has no end.
    reply.on('close', () => {
      reject(answeredRefusal(place, reply.statusCode ?? 500, Buffer.concat(parts).toString()));
      // The library leaves a refused connection to us.
      socket.terminate();
    });
  });
}
