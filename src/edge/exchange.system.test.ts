import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { exchange } from './exchange.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const going = (): AbortSignal => new AbortController().signal;

it('carries a body there and the whole answer back, and keeps its connections', async () => {
  const ports = new Set<number | undefined>();
  const url = await serve(async (request, response) => {
    ports.add(request.socket.remotePort);
    const body = await text(request);
    response.writeHead(307, { 'X-Told': String(request.headers['x-asked']), location: '/elsewhere' });
    response.write(body);
    setImmediate(() => response.end(' and more'));
  });
  const ask = () => exchange({ url, method: 'POST', headers: { 'X-Asked': 'this' }, body: 'grüß' }, going());

  const answer = await ask();
  for (let n = 0; n < 5; n++) await ask();

  expect(answer).toMatchObject({ status: 307, headers: { 'x-told': 'this', location: '/elsewhere' } });
  expect(new TextDecoder().decode(answer.body)).toBe('grüß and more');
  // A connection is free again a turn after its answer: those who ask at once need a second one.
  expect(ports.size).toBeLessThanOrEqual(2);
});

it('makes one header of those that come several times', async () => {
  const url = await serve((_request, response) => response.writeHead(200, { 'X-Part': ['1', '2'] }).end());

  const { headers } = await exchange({ url, method: 'GET', headers: {} }, going());

  expect(headers['x-part']).toBe('1,2');
});

it('rejects when it is given up', async () => {
  const url = await serve(() => {});
  const ending = new AbortController();

  const asked = exchange({ url, method: 'GET', headers: {} }, ending.signal);
  ending.abort();

  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
});

it('gives up what already runs, and sends nothing that was given up before', async () => {
  let arrived = 0;
  const cut = Promise.withResolvers<void>();
  const came = Promise.withResolvers<void>();
  const url = await serve((request) => {
    arrived += 1;
    request.on('close', cut.resolve);
    came.resolve();
  });
  const ending = new AbortController();

  const asked = exchange({ url, method: 'GET', headers: {} }, ending.signal);
  await came.promise;
  ending.abort();

  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  await cut.promise;
  await expect(exchange({ url, method: 'GET', headers: {} }, ending.signal)).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(arrived).toBe(1);
});

it('rejects when the answer breaks off, and when nobody is there', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  const ask = (at: string) => exchange({ url: at, method: 'GET', headers: {} }, going());

  await expect(ask(url)).rejects.toMatchObject({ message: 'other side closed' });
  await expect(ask('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
