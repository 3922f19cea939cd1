import { connect, createServer, type Socket } from 'node:net';

/** A network between agents and the broker that the test can cut. */
export interface CutNetwork {
  readonly port: number;
  /** Ends every connection, and lets none through until it is restored. */
  cut(): void;
  restore(): void;
  close(): void;
}

export async function openCutNetwork(toPort: () => number): Promise<CutNetwork> {
  const sockets = new Set<Socket>();
  let isCut = false;

  function join(a: Socket, b: Socket): void {
    for (const [socket, other] of [
      [a, b],
      [b, a],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }

  // Without a delay of its own: small packets would wait 40 ms for those before them.
  const server = createServer({ noDelay: true }, (client) => {
    if (isCut) return void client.destroy();
    join(client, connect({ port: toPort(), host: '127.0.0.1', noDelay: true }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();

  function cut(): void {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  }

  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cut,
    restore() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}
