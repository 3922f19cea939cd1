import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { systemClock } from '#core/clock.ts';
import { freePort } from '#core/testing/free-port.ts';
import { openClient } from './client.ts';
import { openTunnel } from './tunnel.ts';

const whyNot = async (address: string, token?: string) => {
  const place = { address, token, why: 'the default', whyNoToken: 'None here.' };
  const opening = openTunnel(openClient(place, fetch), '/sessions/x/read', {
    signal: new AbortController().signal,
    clock: systemClock,
  });
  return opening.then(
    () => 'it opened',
    (fault) => fault,
  );
};

test('where no server answers, a tunnel says so as every other call does', async () => {
  const address = `http://127.0.0.1:${await freePort()}`;

  expect(await whyNot(address)).toMatchObject({
    kind: 'unavailable',
    message: `No Muster server answers at ${address} (the default): ECONNREFUSED.`,
    remedy: expect.stringContaining('`muster server`'),
  });
});

test('where a token is lacking, a tunnel says where it was looked for; one that is refused has the words of the server', async () => {
  const detail = 'The token is not valid.';
  const server = createServer().listen(0, '127.0.0.1');
  server.on('upgrade', (_request, socket) => {
    const text = JSON.stringify({ kind: 'unauthenticated', detail });
    socket.end(`HTTP/1.1 401 Unauthorized\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`);
  });
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  expect(await whyNot(address)).toMatchObject({ message: `The server at ${address} needs a token. None here.` });
  expect(await whyNot(address, 'wrong')).toMatchObject({ message: detail });
});

test('what a server sends before it closes is read whole, even where it closes before our own end is sent', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  const hasClosed = new Promise((resolve) => {
    server.on('connection', (socket) => {
      socket.send(Buffer.from('all of it'));
      socket.send('{"eof":true}');
      socket.close(1000);
      socket.once('close', resolve);
    });
  });
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const client = openClient({ address, token: 't', why: 'the default' }, fetch);
  const tunnel = await openTunnel(client, '/x', { signal: new AbortController().signal, clock: systemClock });
  await hasClosed;
  const closed = once(tunnel, 'close');
  tunnel.end();
  let read = '';
  await pipeline(tunnel, async (chunks) => {
    for await (const chunk of chunks) read += chunk;
  });

  expect(read).toBe('all of it');
  // Otherwise whoever waits for it waits for ever.
  await closed;
});
