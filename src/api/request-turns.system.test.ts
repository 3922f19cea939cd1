// Many requests, or many callers that leave, at the same moment.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '#core/clock.ts';
import type { VirtualClock } from '#core/virtual-clock.ts';
import { apiWorld } from './testing/world.ts';

const stops: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function served(clock: Clock = systemClock) {
  const world = await apiWorld({ clock: clock as unknown as VirtualClock });
  const listener = createServer((socket) => void world.api.server.emit('connection', socket));
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  stops.push(
    () => void listener.close(),
    () => world.api.close(),
  );
  return { ...world, port: (listener.address() as AddressInfo).port };
}

test('requests that arrive at once leave others a turn between them', async () => {
  let nowMs = 0;
  let turn = 0;
  const answeredIn: number[] = [];
  const { port, deps } = await served({
    ...systemClock,
    // Each look at the clock takes longer than a share of a turn.
    monotonic: () => (nowMs += 10),
    soon(run) {
      systemClock.soon(() => {
        turn += 1;
        run();
      });
    },
  });
  deps.metrics.httpAnswered = () => void answeredIn.push(turn);
  const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';
  const socket = connect(port, '127.0.0.1');

  socket.write(`${`${request}\r\n`.repeat(9)}${request}Connection: close\r\n\r\n`);
  await once(socket.resume(), 'close');

  expect(new Set(answeredIn).size).toBe(10);
});

test('a request that ends before it is whole gets no answer', async () => {
  const { port } = await served();
  const socket = connect(port, '127.0.0.1');
  socket.end('GET /healthz HTTP/1.1\r\nHost: ');
  let answer = '';
  for await (const part of socket) answer += String(part);

  expect(answer).toBe('');
});
