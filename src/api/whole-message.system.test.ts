import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { WholeMessage } from './whole-message.ts';

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0).toReversed()) stop();
});

/** A caller whose requests are answered by `handle`, and all that it was sent. */
async function connected(handle: (request: WholeMessage, response: ServerResponse) => void) {
  const server = createServer({ IncomingMessage: WholeMessage }, handle as never);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  stops.push(
    () => void server.close(),
    () => void socket.destroy(),
  );
  let received = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    received += piece;
  });
  const answered = (body: string) =>
    until(`the answer "${body}"`, () => received.includes(`\r\n\r\n${body}`) || undefined);
  return { socket, answered };
}

const post = (body: string): string => `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const nextTurn = (): Promise<void> => new Promise((resolve) => systemClock.soon(resolve));

test('a body is taken as a whole, in however many pieces it comes', async () => {
  const { socket, answered } = await connected((request, response) => {
    request.takeWhole((body) => response.end(`<${body}>`));
  });
  const [head, tail] = [post('one two three').slice(0, -9), 'two three'];

  socket.write(head);
  await nextTurn();
  socket.write(tail.slice(0, 4));
  await nextTurn();
  socket.write(tail.slice(4));

  await answered('<one two three>');
});

test.each([
  ['after all of it has come', ''],
  ['before its end has come', 'more'],
])('a body is taken as a whole %s', async (_when, rest) => {
  const taken = Promise.withResolvers<void>();
  const { socket, answered } = await connected((request, response) => {
    void until('a piece has come', () => request.readableLength > 0 || undefined).then(() => {
      request.takeWhole((body) => response.end(`<${body}>`));
      taken.resolve();
    });
  });

  socket.write(post(`first${rest}`).slice(0, rest ? -rest.length : undefined));
  await taken.promise;
  socket.write(rest);

  await answered(`<first${rest}>`);
});

test('requests follow each other on a connection, taken as a whole or read as streams, also without a body', async () => {
  let count = 0;
  const { socket, answered } = await connected((request, response) => {
    count += 1;
    if (count % 2 === 1) request.takeWhole((body) => response.end(`<${body}>`));
    else void text(request).then((body) => response.end(`[${body}]`));
  });

  socket.write(post('a') + post('b') + post('') + post('d'));
  await Promise.all(['<a>', '[b]', '<>', '[d]'].map(answered));
  socket.write(post('e'));

  await answered('<e>');
});

test('a caller that leaves in the middle of a body has sent no whole one', async () => {
  const bodies: string[] = [];
  const left = Promise.withResolvers<void>();
  const { socket } = await connected((request, response) => {
    request.takeWhole((body) => void bodies.push(String(body)));
    request.on('error', () => left.resolve());
    response.on('error', () => {});
    socket.destroy();
  });

  socket.write(post('half of it').slice(0, -4));
  await left.promise;

  expect(bodies).toEqual([]);
});
