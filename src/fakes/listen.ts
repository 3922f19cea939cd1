import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Fault } from '#core/fault.ts';

export interface Listener {
  readonly port: number;
  readonly address: string;
  close(): Promise<void>;
}

export type Handler = (request: Request) => Promise<Response> | Response;

const HOST = '127.0.0.1';

async function bodyOf(incoming: IncomingMessage): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}

function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return names.map((name, index) => [name, rawHeaders[index * 2 + 1] as string]);
}

const isBroken = (thrown: unknown): boolean =>
  thrown instanceof TypeError && (thrown.cause as { code?: string } | undefined)?.code === 'ECONNRESET';

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const content = new Uint8Array(await response.arrayBuffer());
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    'content-length': content.byteLength,
  });
  outgoing.end(content);
}

/** An answer that says of itself that it comes in chunks is passed on as they come. */
async function stream({ status, headers, body }: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(status, Object.fromEntries(headers));
  outgoing.flushHeaders();
  for await (const chunk of body ?? []) outgoing.write(chunk);
  outgoing.end();
}

/** One exchange; where there is no answer, the connection breaks as it would. */
async function exchange(incoming: IncomingMessage, outgoing: ServerResponse, handle: Handler): Promise<void> {
  const left = new AbortController();
  outgoing.once('close', () => left.abort());
  try {
    const body = await bodyOf(incoming);
    const url = `http://${incoming.headers.host ?? HOST}${incoming.url ?? '/'}`;
    const init = { method: incoming.method ?? 'GET', headers: headersOf(incoming), signal: left.signal };
    const response = await handle(new Request(url, body === undefined ? init : { ...init, body }));
    await (response.headers.get('transfer-encoding') === 'chunked' ? stream : send)(response, outgoing);
  } catch (thrown) {
    if (left.signal.aborted || isBroken(thrown)) return void incoming.socket.destroy();
    outgoing.writeHead(500, { 'content-type': 'text/plain' }).end(`The simulation failed: ${String(thrown)}\n`);
  }
}

/** Puts a handler on loopback; port 0 takes any that is free. */
export async function listen(port: number, handle: Handler): Promise<Listener> {
  const server = createServer((incoming, outgoing) => void exchange(incoming, outgoing, handle));
  server.listen(port, HOST);
  await once(server, 'listening').catch((thrown: NodeJS.ErrnoException) => {
    throw new Fault('unavailable', `Port ${port} cannot be used: ${thrown.code}.`, {
      remedy: 'Choose another with --port.',
    });
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    port: taken,
    address: `http://${HOST}:${taken}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
