import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Fault } from '#core/fault.ts';
import type { Handler, Listener } from './listen.ts';

const HOST = '127.0.0.1';
const CANCEL = 8;

async function bodyOf(stream: ServerHttp2Stream): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk as Uint8Array);
  return new Uint8Array(Buffer.concat(chunks));
}

const headersOf = (headers: IncomingHttpHeaders): [string, string][] =>
  Object.entries(headers).flatMap(([key, value]) =>
    key.startsWith(':') || value === undefined ? [] : [[key, String(value)]],
  );

/** The status of gRPC travels behind the message. */
async function send(response: Response, stream: ServerHttp2Stream): Promise<void> {
  const all = Object.fromEntries(response.headers);
  const ofGrpc = ([key]: [string, string]): boolean => key.startsWith('grpc-');
  const trailers = Object.fromEntries(Object.entries(all).filter(ofGrpc));
  const headers = Object.fromEntries(Object.entries(all).filter((entry) => !ofGrpc(entry)));
  const content = new Uint8Array(await response.arrayBuffer());
  stream.respond({ ':status': response.status, ...headers }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(content);
}

/** One exchange; where there is no answer, the connection breaks as it would. */
async function exchange(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, handle: Handler): Promise<void> {
  const left = new AbortController();
  stream.once('close', () => left.abort());
  stream.on('error', () => left.abort());
  try {
    const url = `http://${headers[':authority'] ?? HOST}${headers[':path'] ?? '/'}`;
    const init = { method: 'POST', headers: headersOf(headers), body: await bodyOf(stream), signal: left.signal };
    await send(await handle(new Request(url, init)), stream);
  } catch {
    if (!stream.destroyed) stream.close(CANCEL);
  }
}

/** Puts a handler on loopback that is spoken to by gRPC without TLS; port 0 takes any that is free. */
export async function listenGrpc(port: number, handle: Handler): Promise<Listener> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void exchange(stream, headers, handle),
  );
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
      for (const session of sessions) session.destroy();
      await once(server, 'close');
    },
  };
}
