import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { systemClock } from '#core/clock.ts';
import type { VirtualClock } from '#core/virtual-clock.ts';
import { apiWorld, type WorldOptions } from './world.ts';

const stops: (() => Promise<void> | void)[] = [];

/** Runs when the test is over, the last first. */
export function atEnd(stop: () => Promise<void> | void): void {
  stops.push(stop);
}

export async function endAll(): Promise<void> {
  for (const stop of stops.splice(0).toReversed()) await stop();
}

/** The API behind a listening socket that hands its connections over, as the program does. */
export async function served(options: WorldOptions = {}, wrap: (socket: Socket) => Socket = (socket) => socket) {
  const world = await apiWorld({ clock: systemClock as unknown as VirtualClock, ...options });
  const first = Promise.withResolvers<Socket>();
  const listener = createServer((socket) => {
    first.resolve(socket);
    world.api.server.emit('connection', wrap(socket));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  atEnd(() => void listener.close());
  atEnd(() => world.api.close());
  const authorization = `Bearer ${world.tokens.operator}`;
  return { ...world, port, address: `http://127.0.0.1:${port}`, authorization, accepted: first.promise };
}
