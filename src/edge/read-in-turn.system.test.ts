import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { listenOn } from './listen.ts';
import { readInTurn, readPieces } from './read-pieces.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A connection that is read through a queue, and the events that its socket has emitted. */
async function aConnection({ isRead = true } = {}) {
  const waiting: (() => void)[] = [];
  const taken = Promise.withResolvers<Socket>();
  const port = await listenOn({ host: '127.0.0.1', port: 0 }, taken.resolve);
  const client = connect(port.address.port, '127.0.0.1').on('error', () => {});
  const socket = await taken.promise;
  closing.push(
    port.close,
    () => client.destroy(),
    () => socket.destroy(),
  );
  const noticed: string[] = [];
  if (isRead) socket.on('data', (piece) => noticed.push(String(piece)));
  socket.on('end', () => noticed.push('end'));
  socket.on('error', (error: NodeJS.ErrnoException) => noticed.push(error.code ?? error.message));
  socket.on('close', () => noticed.push('close'));
  readInTurn(socket, { run: (work) => void waiting.push(work) });
  const letAllEnd = async (): Promise<void> => {
    for (const work of waiting.splice(0)) work();
    await until('it is closed', () => {
      for (const work of waiting.splice(0)) work();
      return noticed.includes('close');
    });
  };
  return { socket, client, waiting, noticed, letAllEnd };
}

test('data waits in the queue, and EOF after it', async () => {
  const { client, waiting, noticed, letAllEnd } = await aConnection();

  client.end('last words');
  await until('something has come', () => waiting.length > 0);
  expect(noticed).toEqual([]);

  waiting.shift()?.();
  await until('the end has come', () => waiting.length > 0);
  expect(noticed).toEqual(['last words']);

  await letAllEnd();
  expect(noticed).toEqual(['last words', 'end', 'close']);
});

test('a queued chunk stops reading; afterwards all data arrive in order', async () => {
  const { socket, client, waiting, noticed } = await aConnection();
  const pieces = Array.from({ length: 32 }, (_, n) => Buffer.alloc(64 * 1_024, n));
  const sent = Buffer.concat(pieces);
  let most = 0;
  client.write(sent);

  await until('all has come', () => {
    most = Math.max(most, waiting.length);
    waiting.shift()?.();
    return noticed.join('').length === sent.length;
  });

  expect(most).toBe(1);
  expect(noticed.join('')).toBe(String(sent));
  expect(socket.bytesRead).toBe(sent.length);
});

test('readPieces gets its chunks from the queue, also after the socket was paused', async () => {
  const { socket, client, waiting, noticed } = await aConnection({ isRead: false });
  const heard: string[] = [];
  const giveBack = readPieces(socket, (piece) => heard.push(String(piece)));
  socket.resume();

  client.write('a');
  await until('a has come', () => waiting.length > 0);
  socket.pause();
  waiting.shift()?.();
  client.write('b');
  await until('b has come', () => waiting.length > 0);
  waiting.shift()?.();
  expect(heard).toEqual([]);

  socket.resume();
  await until('both are heard', () => heard.join('') === 'ab');
  giveBack();
  socket.on('data', (piece) => noticed.push(String(piece)));
  client.write('c');
  await until('c is emitted', () => {
    waiting.shift()?.();
    return noticed.join('') === 'c';
  });
  expect(heard.join('')).toBe('ab');
});

test('a reset waits in the queue', async () => {
  const { socket, client, waiting, noticed, letAllEnd } = await aConnection();

  client.resetAndDestroy();
  await until('the reset has come', () => waiting.length > 0);
  expect([noticed, socket.destroyed]).toEqual([[], false]);

  await letAllEnd();
  expect(noticed).toEqual(['ECONNRESET', 'close']);
});

test('destroy() closes at once, whatever still arrives or is queued', async () => {
  const { socket, client, waiting, noticed } = await aConnection();
  client.write('late');
  await until('something has come', () => waiting.length > 0);

  socket.destroy();
  client.write('later');
  await until('it is closed', () => noticed.includes('close'));

  for (const work of waiting.splice(0)) work();
  expect(noticed).toEqual(['close']);
});

test('a socket without a data listener still emits end and close', async () => {
  const { client, noticed, letAllEnd } = await aConnection({ isRead: false });

  client.end();

  await letAllEnd();
  expect(noticed).toEqual(['end', 'close']);
});
