import { createServer } from 'node:net';

const canListen = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(undefined))
      .listen(port, '127.0.0.1', () => {
        const address = server.address();
        server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
      });
  });

/** A free port whose successor is free too: a replica listens for its peers beside its API. */
export async function freePortPair(): Promise<number> {
  for (;;) {
    const port = (await canListen(0)) ?? 0;
    if (port < 65_535 && (await canListen(port + 1)) !== undefined) return port;
  }
}
