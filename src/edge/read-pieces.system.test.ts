import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { untilHolds } from '#core/testing/until.ts';
import { readPieces } from './read-pieces.ts';

const open: (() => unknown)[] = [];
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
});

/** Both ends of a connection. */
async function connected(): Promise<{ readonly here: Socket; readonly client: Socket }> {
  const server = createServer();
  const come = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const here = await come;
  open.push(
    () => server.close(),
    () => client.destroy(),
    () => here.destroy(),
  );
  return { here, client };
}

function collector() {
  let text = '';
  const hear = (piece: Buffer): void => {
    text += piece.toString();
  };
  return { text: () => text, hear };
}

test('each piece is heard, in order, and no tick is taken for it', async () => {
  const { here, client } = await connected();
  const { text, hear } = collector();
  let emitted = 0;
  here.emit = new Proxy(here.emit, {
    apply(emit, socket, args) {
      if (args[0] === 'data') emitted += 1;
      return Reflect.apply(emit, socket, args);
    },
  });
  readPieces(here, hear);

  client.write('one ');
  await untilHolds(() => expect(text()).toBe('one '));
  client.write('two');

  await untilHolds(() => expect(text()).toBe('one two'));
  expect(emitted).toBe(0);
});

test('while the socket is paused nothing is heard; afterwards all of it, also what came in between', async () => {
  const { here, client } = await connected();
  const { text, hear } = collector();
  readPieces(here, hear);
  client.write('a');
  await untilHolds(() => expect(text()).toBe('a'));

  here.pause();
  client.write('b');
  await untilHolds(() => expect(here.readableLength).toBe(1));
  expect(text()).toBe('a');
  here.resume();
  client.write('c');

  await untilHolds(() => expect(text()).toBe('abc'));
});

test('a socket that is paused for long stops reading, and goes on where it stopped', async () => {
  const { here, client } = await connected();
  let bytes = 0;
  readPieces(here, (piece) => {
    bytes += piece.length;
  });
  client.write('first');
  await untilHolds(() => expect(bytes).toBe(5));
  here.pause();
  const size = 32 * 1_024 * 1_024;
  client.write(Buffer.alloc(size));
  await untilHolds(() => expect(here.readableLength).toBeGreaterThanOrEqual(here.readableHighWaterMark));
  expect(here.readableLength).toBeLessThan(size / 4);

  here.resume();

  await untilHolds(() => expect(bytes).toBe(size + 5));
});

test('a listener that pauses is called with nothing more until it resumes', async () => {
  const { here, client } = await connected();
  const heard: number[] = [];
  readPieces(here, (piece) => {
    heard.push(piece.length);
    here.pause();
  });
  client.write(Buffer.alloc(8 * 1_024 * 1_024));
  await untilHolds(() => expect(here.readableLength).toBeGreaterThan(0));

  expect(heard).toHaveLength(1);
});

test('a socket that was given back is a plain stream, and what comes goes to its own listeners', async () => {
  const { here, client } = await connected();
  const { text, hear } = collector();
  const other = collector();
  const giveBack = readPieces(here, (piece) => {
    hear(piece);
    here.on('data', other.hear);
    giveBack();
  });
  client.write('ours');
  await untilHolds(() => expect(text()).toBe('ours'));

  client.end('theirs');
  await new Promise((resolve) => here.once('end', resolve));

  expect([text(), other.text()]).toEqual(['ours', 'theirs']);
});

test('the end of a connection is heard', async () => {
  const { here, client } = await connected();
  const { text, hear } = collector();
  readPieces(here, hear);

  client.end('bye');
  await new Promise((resolve) => here.once('end', resolve));

  expect(text()).toBe('bye');
});
