import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections: while a server is down, no connection takes its port.
const FIRST_PORT = 18_000;
const PORTS_A_WORKER = 1_000;
const SHARES = 14;
/** Worker processes choose from shares of their own: a port is chosen some time before a server listens on it. */
const FIRST_OF_WORKER = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % SHARES) * PORTS_A_WORKER;
const taken = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().listen(port, () => server.close(() => resolve(true)));
    server.on('error', () => resolve(false));
  });
}

/** A port on which no process listens now, and that this process gets only once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_OF_WORKER + randomInt(PORTS_A_WORKER);
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    return port;
  }
}
