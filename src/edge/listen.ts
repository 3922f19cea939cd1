import { createServer, type Server, type Socket } from 'node:net';
import { Fault } from '#core/fault.ts';
import { type Address, formatAddress } from './address.ts';

/** An open port; what comes in is handed on, not read. */
export interface Port {
  readonly address: Address;
  /** No new connections; the open ones stay with their owner. */
  close(): void;
}

function whyNot(error: NodeJS.ErrnoException, address: Address): Fault {
  const place = formatAddress(address);
  if (error.code === 'EADDRINUSE') {
    const remedy = 'Stop that program, or set another address under `server:` in the configuration.';
    return new Fault('conflict', `Another program listens on ${place}.`, { cause: error, remedy });
  }
  const remedy = 'Set an address of this machine under `server:`. Ports below 1024 need root or CAP_NET_BIND_SERVICE.';
  return new Fault('invalid', `Cannot listen on ${place}: ${error.code ?? error.message}.`, { cause: error, remedy });
}

export async function listenOn(address: Address, taken: (socket: Socket) => void): Promise<Port> {
  const server: Server = createServer({ noDelay: true }, taken);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(whyNot(error, address)));
    server.listen({ port: address.port, ...(address.host === '' ? {} : { host: address.host }) }, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound ? bound.port : address.port;
  return {
    address: { host: address.host, port },
    close: () => void server.close(),
  };
}
