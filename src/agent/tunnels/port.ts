import { connect, type Socket } from 'node:net';
import { Fault } from '#core/fault.ts';
import { isTaken, type Loopback, listeningAt } from '#host/listening.ts';
import { withDescendants } from '#host/processes.ts';
import type { FarEnd } from './far-end.ts';
import type { SessionPlace } from './session-place.ts';

function opened(port: number, host: Loopback): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, allowHalfOpen: true, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.on('error', (error) =>
      reject(new Fault('unavailable', `Cannot connect to port ${port} on the worker: ${error.message}.`)),
    );
  });
}

function farEndOf(socket: Socket): FarEnd {
  // Bytes that were cut off must not look complete; after a complete exchange a reset could drop what is still on its way.
  const isComplete = (): boolean => socket.readableEnded && socket.writableFinished;
  return {
    readable: socket,
    writable: socket,
    finished: async () => {},
    destroy: () => void (isComplete() ? socket.destroy() : socket.resetAndDestroy()),
  };
}

/** Connects to a port of this machine, only to one on which processes of the session listen and nobody else. */
export async function connectToPort(port: number, { session, pids }: SessionPlace): Promise<FarEnd> {
  if (process.platform !== 'linux')
    throw new Fault('unsupported', 'Ports are forwarded from Linux workers only: /proc shows who listens.');
  const own = (): readonly Loopback[] => listeningAt(port, withDescendants(pids()));
  let fault = new Fault('unavailable', `No process of session ${session} listens on port ${port} of 127.0.0.1.`, {
    remedy: 'Wait until the program listens, or check the port. Only ports of the session itself are forwarded.',
  });
  for (const host of own()) {
    try {
      const socket = await opened(port, host);
      // Another process may have taken the port between the look and the connection. A program that takes one connection
      // alone has closed it.
      const isOurs = !isTaken(port, host) || own().includes(host);
      if (isOurs) return farEndOf(socket);
      socket.destroy();
    } catch (thrown) {
      // A socket of `::` need not take connections to 127.0.0.1.
      fault = Fault.from(thrown);
    }
  }
  throw fault;
}

/** Connects to a port of this machine on which anything but the agent itself listens. */
export async function connectToMachine(port: number): Promise<FarEnd> {
  const isOwn = (host: Loopback): boolean => listeningAt(port, [process.pid]).includes(host);
  let fault = new Fault('unavailable', `Nothing listens on port ${port} of 127.0.0.1 there.`);
  for (const host of ['127.0.0.1', '::1'] as const) {
    if (isOwn(host))
      throw new Fault('denied', `Port ${port} is the agent's own: it answers probes, and nothing else.`, {
        remedy: 'Let the program listen on another port, or create the computer with another `port`.',
      });
    try {
      return farEndOf(await opened(port, host));
    } catch (thrown) {
      if (host === '127.0.0.1') fault = Fault.from(thrown);
    }
  }
  throw fault;
}
