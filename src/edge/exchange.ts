import { Buffer } from 'node:buffer';
import { type IncomingHttpHeaders, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Exchange } from '#core/exchange.ts';

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  const read: Record<string, string> = {};
  for (const name in headers) read[name] = String(headers[name]);
  return read;
}

/** Exchanges by Node's own client, which keeps its connections, and costs a fraction of what `fetch` does. */
export const exchange: Exchange = ({ url, method, headers, body }, signal) =>
  new Promise((resolve, reject) => {
    const open = url.startsWith('https:') ? requestSecure : requestPlain;
    const request = open(url, { method, headers, signal }, (response) => {
      const chunks: Uint8Array[] = [];
      response.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers: read } = response;
        const [only, ...more] = chunks;
        resolve({ status, headers: plain(read), body: only && more.length === 0 ? only : Buffer.concat(chunks) });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
