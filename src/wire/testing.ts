// A call in memory, with the back-pressure of a real one.
import { Duplex } from 'node:stream';

/** One side of a call; `to` is the other one. */
function aSide(to: () => Duplex, readers: Map<Duplex, () => void>): Duplex {
  return new Duplex({
    objectMode: true,
    highWaterMark: 2,
    read() {
      const taken = readers.get(this);
      readers.delete(this);
      taken?.();
    },
    write(message, _, done) {
      if (to().push(message)) done();
      else readers.set(to(), () => done());
    },
    final(done) {
      to().push(null);
      done();
    },
  });
}

/** Both sides of one call; each takes a few messages before `write` asks its caller to wait. */
export function aCallInMemory() {
  const readers = new Map<Duplex, () => void>();
  const client: Duplex = aSide(() => server, readers);
  const server: Duplex = aSide(() => client, readers);
  const ended = new Promise<void>((resolve) => {
    client.once('close', () => resolve());
    // As gRPC does it: the status of the server ends the call, though the client has not read all yet.
    server.once('finish', () => resolve());
  });
  /** Breaks the call off, as a lost connection does. */
  function breakOff(): void {
    client.destroy();
    if (server.destroyed) return;
    server.emit('cancelled');
    server.destroy();
  }
  for (const side of [client, server]) side.on('error', () => {});
  return { client, server, ended, breakOff };
}
