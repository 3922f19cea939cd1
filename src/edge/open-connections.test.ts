import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Log } from '#core/log.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { connectionKey, openConnections } from './open-connections.ts';

function aWorld(trustedProxies: readonly string[] = []) {
  const clock = new VirtualClock();
  const warnings: unknown[] = [];
  const log: Log = (_level, message) => void warnings.push(message);
  const connections = openConnections({ mostOfAddress: 2, trustedProxies, clock, log });
  let port = 1_000;
  function socket(remoteAddress = '203.0.113.7'): Socket {
    const made = new EventEmitter();
    const destroy = (): void => void made.emit('close');
    port += 1;
    return Object.assign(made, { remoteAddress, remotePort: port, localPort: 443, destroy }) as unknown as Socket;
  }
  return { clock, connections, socket, warnings };
}

const isClosed = (socket: Socket): (() => boolean) => {
  let closed = false;
  socket.once('close', () => {
    closed = true;
  });
  return () => closed;
};

describe('connections that have not authenticated', () => {
  test('are bounded by address: one that closes makes room, another address has its own', () => {
    const { connections, socket } = aWorld();
    const first = socket();
    connections.admit(first);
    connections.admit(socket());

    expect(connections.admit(socket())).toBe(false);
    expect(connections.admit(socket('203.0.113.8'))).toBe(true);
    first.destroy();
    expect(connections.admit(socket())).toBe(true);
  });

  test('count no more once they have authenticated, and then have no deadline', async () => {
    const { connections, socket, clock } = aWorld();
    const agents = [socket(), socket(), socket(), socket()];
    for (const agent of agents) {
      expect(connections.admit(agent)).toBe(true);
      connections.authenticated(connectionKey(agent));
    }
    const closed = agents.map(isClosed);

    await clock.advance(3_600_000);

    expect(closed.map((is) => is())).toEqual([false, false, false, false]);
  });

  test('are closed after ten seconds unless their handshake is over', async () => {
    const { connections, socket, clock } = aWorld();
    const [silent, established] = [socket(), socket()];
    for (const one of [silent, established]) connections.admit(one);
    connections.established(connectionKey(established));
    const [isSilentClosed, isOtherClosed] = [isClosed(silent), isClosed(established)];

    await clock.advance(9_999);
    const early = isSilentClosed();
    await clock.advance(1);

    expect([early, isSilentClosed(), isOtherClosed()]).toEqual([false, true, false]);
  });

  test('of a trusted proxy are not bounded', () => {
    const { connections, socket } = aWorld(['203.0.113.0/24']);

    for (let n = 0; n < 10; n++) expect(connections.admit(socket())).toBe(true);
  });

  test('that were forwarded count for the address of the client', () => {
    const { connections, socket } = aWorld();
    for (let n = 0; n < 10; n++) {
      const forwarded = socket('192.0.2.1');
      connections.admit(forwarded);
      expect(connections.admit(forwarded, `198.51.100.${n}`)).toBe(true);
      expect(connections.addressOf(connectionKey(forwarded))).toBe(`198.51.100.${n}`);
    }
  });

  test('that are refused are logged once a minute, with the remedy', async () => {
    const { connections, socket, clock, warnings } = aWorld();
    for (let n = 0; n < 10; n++) connections.admit(socket());
    const first = warnings.length;
    await clock.advance(60_000);
    for (let n = 0; n < 10; n++) connections.admit(socket());

    expect([first, warnings.length]).toEqual([1, 2]);
  });
});
