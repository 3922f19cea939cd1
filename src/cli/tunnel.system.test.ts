import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
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
