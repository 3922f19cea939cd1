import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { reconnectDelayMs } from '../agent/backoff.ts';
import { connectionKey, openConnections } from '../edge/open-connections.ts';

const AGENTS = 5_000;
// Twice what a handshake by TLS, the check of a token and a join take of one core.
const JOIN_MS = 8;
const UNAVAILABLE = { code: 14, details: '' };

test('five thousand agents behind one address are all back within a minute after a restart', async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const connections = openConnections({ mostOfAddress: 256, trustedProxies: [], clock, log: silentLog });
  let joined = 0;
  let freeMs = clock.monotonic();
  let port = 0;

  /** The server takes one connection after the other; one that it has not admitted after ten seconds is closed. */
  function connect(failures: number): void {
    port += 1;
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress: '203.0.113.7',
      remotePort: port,
      localPort: 50_051,
      destroy: () => void socket.emit('close'),
    }) as unknown as Socket;
    const again = (): void =>
      void clock.alarm(reconnectDelayMs(UNAVAILABLE, failures, random), () => connect(failures + 1));
    if (!connections.admit(socket)) return again();
    freeMs = Math.max(freeMs, clock.monotonic()) + JOIN_MS;
    const cancel = clock.alarm(freeMs - clock.monotonic(), () => {
      socket.off('close', closed);
      connections.authenticated(connectionKey(socket));
      joined += 1;
    });
    const closed = (): void => {
      cancel();
      again();
    };
    socket.on('close', closed);
  }

  for (let agent = 0; agent < AGENTS; agent++) connect(0);
  await clock.advance(MINUTE_MS);

  expect(joined).toBe(AGENTS);
});
