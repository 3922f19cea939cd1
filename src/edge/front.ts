import type { Socket } from 'node:net';
import { openBurstQueue } from '#core/burst-queue.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { type Address, formatAddress, parseAddress } from './address.ts';
import { type EdgeProtocol, forward, type HolderAddress, receiveForwarded } from './forward.ts';
import { listenOn, type Port } from './listen.ts';
import type { OpenConnections } from './open-connections.ts';
import { answerProbe } from './probe.ts';

/** Handlers of connections while this process is the holder. */
export type Serve = Readonly<Record<EdgeProtocol, (socket: Socket) => void>>;

export interface Front {
  readonly addresses: Readonly<Record<EdgeProtocol, Address>>;
  /** Where standbys reach this process, if it may have any. */
  readonly peer: Address | undefined;
  /** From now on connections are served here. */
  serve(serve: Serve): void;
  /** No new connections; the open ones stay with their owner. */
  close(): void;
}

export interface FrontOptions {
  readonly http: string;
  readonly grpc: string;
  /** Where other replicas pass connections on to; absent where there can be none. */
  readonly peer?: string | undefined;
  /** Known to this cluster's replicas alone: what they forward is encrypted and authenticated by it. */
  readonly secret: string;
  /** The holder as it is known now; asked for each connection while this process is a standby. */
  readonly holder: () => HolderAddress | undefined;
  /** What a replica without a holder waits for; the answer to /readyz. */
  readonly whyNotReady?: (() => string) | undefined;
  readonly connections: OpenConnections;
  readonly clock: Clock;
  readonly log: Log;
}

// Long enough for a failover, so that a client that connects meanwhile only waits.
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 200;

/** A client's connection that goes on to a holder. */
interface Relay {
  readonly secret: string;
  cut(): void;
}

interface Reaching {
  readonly holder: HolderAddress;
  unreached(): void;
}

const NO_HOLDER = 'No process holds the store: this replica waits to become the holder, or for another one.';

/** The listening sockets of one replica: they pass on while it stands by, and serve once it holds. */
export async function openFront(options: FrontOptions): Promise<Front> {
  const { clock, log, connections, whyNotReady = () => NO_HOLDER } = options;
  let serving: Serve | undefined;
  const ports: Port[] = [];
  const relays = new Map<Socket, Relay>();
  let cancelLook: (() => void) | undefined;
  // The system hands over all connections that wait in one turn.
  const burst = openBurstQueue(clock);

  function enter(protocol: EdgeProtocol, socket: Socket): void {
    const isAlone = !serving && !options.holder();
    if (protocol === 'http' && isAlone) answerProbe(socket, whyNotReady, () => wait(protocol, socket));
    else wait(protocol, socket);
  }

  function wait(protocol: EdgeProtocol, socket: Socket, waitedMs = 0): void {
    if (socket.destroyed) return;
    const holder = serving ? undefined : options.holder();
    const again = (): void => void clock.alarm(LOOK_AGAIN_MS, () => wait(protocol, socket, waitedMs + LOOK_AGAIN_MS));
    if (serving) admit(protocol, socket);
    else if (waitedMs >= PATIENCE_MS) socket.destroy();
    // A holder that died is known as the holder until its lease ends.
    else if (holder) relay(protocol, socket, { holder, unreached: again });
    else again();
  }

  function relay(protocol: EdgeProtocol, socket: Socket, { holder, unreached }: Reaching): void {
    const forget = (): void => void relays.delete(socket);
    const cut = forward(socket, {
      protocol,
      holder,
      unreached() {
        socket.off('close', forget);
        forget();
        unreached();
      },
    });
    relays.set(socket, { secret: holder.secret, cut });
    socket.once('close', forget);
    cancelLook ??= clock.alarm(LOOK_AGAIN_MS, cutStale);
  }

  /** A former holder may be frozen, not gone: its connections stay open, and their clients would wait for it. */
  function cutStale(): void {
    cancelLook = undefined;
    const secret = serving ? undefined : options.holder()?.secret;
    for (const { secret: given, cut } of relays.values()) if (given !== secret) cut();
    if (relays.size > 0 && !serving) cancelLook = clock.alarm(LOOK_AGAIN_MS, cutStale);
  }

  function admit(protocol: EdgeProtocol, socket: Socket, from?: string): void {
    if (!serving || !connections.admit(socket, from)) return void socket.destroy();
    serving[protocol](socket);
  }

  async function openPort(text: string, taken: (socket: Socket) => void): Promise<Address> {
    const failed = (error: Error): void => log('debug', 'connection failed', { at: text, error: error.message });
    const port = await listenOn(parseAddress(text), (socket) => {
      socket.on('error', failed);
      burst.run(() => socket.destroyed || taken(socket));
    });
    ports.push(port);
    return port.address;
  }

  const received = receiveForwarded(options.secret, admit);

  function close(): void {
    cancelLook?.();
    for (const port of ports) port.close();
  }

  try {
    const http = await openPort(options.http, (socket) => enter('http', socket));
    const grpc = await openPort(options.grpc, (socket) => enter('grpc', socket));
    const peer =
      options.peer === undefined
        ? undefined
        : await openPort(options.peer, (socket) => {
            if (connections.admit(socket)) received(socket);
            else socket.destroy();
          });
    log('info', 'listening', { http: formatAddress(http), grpc: formatAddress(grpc) });
    return {
      addresses: { http, grpc },
      peer,
      serve(serve) {
        serving = serve;
        cancelLook?.();
        cutStale();
      },
      close,
    };
  } catch (thrown) {
    close();
    throw thrown;
  }
}
