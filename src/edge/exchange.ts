import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Agent, Dispatcher } from 'undici';
import type { Exchange, WholeAnswer, WholeRequest } from '#core/exchange.ts';

// Loaded by the first request only: a server without a cloud never needs it.
let opening: Promise<Agent> | undefined;

async function openConnections(): Promise<Agent> {
  const { Agent } = await import('undici');
  // A connection of HTTP/2 that has died in silence would be used on and on: giving up a request ends its stream alone.
  return new Agent({ allowH2: false });
}

/** A header that came several times is one, as HTTP has it. */
function joined(found: IncomingHttpHeaders): Record<string, string> {
  const read: Record<string, string> = {};
  for (const name in found) read[name] = String(found[name]);
  return read;
}

function answerBy(agent: Agent, { url, method, headers, body }: WholeRequest, signal: AbortSignal) {
  const { origin, pathname, search } = new URL(url);
  return new Promise<WholeAnswer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let read: Record<string, string> = {};
    let controller: Dispatcher.DispatchController | undefined;
    const giveUp = (): void => {
      controller?.abort(signal.reason as Error);
      reject(signal.reason);
    };
    const over = (): void => signal.removeEventListener('abort', giveUp);
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    const options = { origin, path: `${pathname}${search}`, method, headers, body: body ?? null };
    agent.dispatch(options, {
      onRequestStart(opened) {
        controller = opened;
        if (signal.aborted) opened.abort(signal.reason as Error);
      },
      onResponseStart(_, statusCode, found) {
        status = statusCode;
        read = joined(found);
      },
      onResponseData: (_, chunk) => void chunks.push(chunk),
      onResponseEnd() {
        over();
        const [only, ...more] = chunks;
        resolve({ status, headers: read, body: only && more.length === 0 ? only : Buffer.concat(chunks) });
      },
      onResponseError(_, error) {
        over();
        reject(error);
      },
    });
  });
}

/** Exchanges over connections that are kept, at a fraction of what `fetch` costs. */
export const exchange: Exchange = async (request, signal) => {
  opening ??= openConnections();
  return answerBy(await opening, request, signal);
};
