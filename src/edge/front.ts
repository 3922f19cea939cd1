import type { Socket } from 'node:net';
import { openBurstQueue } from '#core/burst-queue.ts';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { type Address, formatAddress, parseAddress } from './address.ts';
import { listenOn, type Port } from './listen.ts';
import { type Advert, type Door, passOn, receivePassed } from './passage.ts';
import { answerProbe } from './probe.ts';
import { readInTurn } from './read-pieces.ts';
import { type Lock, openLock } from './secure.ts';

/** Handlers of connections while this process is the holder. */
export type Serve = Readonly<Record<Door, (socket: Socket) => void>>;

export interface Front {
  readonly addresses: Readonly<Record<Door, Address>>;
  /** Where standbys reach this process, if it may have any. */
  readonly peer: Address | undefined;
  /** From now on connections are served here. */
  serve(serve: Serve, locks?: Partial<Record<Door, Lock>>): void;
  /** No new connections; the open ones stay with their owner. */
  close(): void;
}

export interface FrontOptions {
  readonly http: string;
  readonly grpc: string;
  /** Where other replicas pass connections on to; absent where there can be none. */
  readonly peer?: string | undefined;
  /** Must accompany everything that comes through the peer port. */
  readonly pass: string;
  /** The holder as it is known now; asked for each connection while this process is a standby. */
  readonly holder: () => Advert | undefined;
  /** What a replica without a holder waits for; the answer to /readyz. */
  readonly whyNotReady?: (() => string) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

// Long enough for a failover, so that a client that connects meanwhile only waits.
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 200;

/** A client's connection that goes on to a holder. */
interface Relay {
  readonly pass: string;
  cut(): void;
}

interface Reaching {
  readonly holder: Advert;
  unreached(): void;
}

const NO_HOLDER = 'No process holds the store: this replica waits to become the holder, or for another one.';

/** The listening sockets of one replica: they pass on while it stands by, and serve once it holds. */
export async function openFront(options: FrontOptions): Promise<Front> {
  const { clock, log, whyNotReady = () => NO_HOLDER } = options;
  let serving: { readonly serve: Serve; readonly locks: Map<Door, ReturnType<typeof openLock>> } | undefined;
  const ports: Port[] = [];
  const relays = new Map<Socket, Relay>();
  let cancelLook: (() => void) | undefined;
  // The system hands over all connections that wait, and all that have ended, in one turn.
  const burst = openBurstQueue(clock);

  function enter(door: Door, socket: Socket): void {
    const isAlone = !serving && !options.holder();
    if (door === 'http' && isAlone) answerProbe(socket, whyNotReady, () => wait(door, socket));
    else wait(door, socket);
  }

  function wait(door: Door, socket: Socket, waitedMs = 0): void {
    if (socket.destroyed) return;
    const holder = serving ? undefined : options.holder();
    const again = (): void => void clock.alarm(LOOK_AGAIN_MS, () => wait(door, socket, waitedMs + LOOK_AGAIN_MS));
    if (serving) admit(door, socket);
    else if (waitedMs >= PATIENCE_MS) socket.destroy();
    // A holder that died is known as the holder until its lease ends.
    else if (holder) relay(door, socket, { holder, unreached: again });
    else again();
  }

  function relay(door: Door, socket: Socket, { holder, unreached }: Reaching): void {
    const forget = (): void => void relays.delete(socket);
    const cut = passOn(socket, door, holder, () => {
      socket.off('close', forget);
      forget();
      unreached();
    });
    relays.set(socket, { pass: holder.pass, cut });
    socket.once('close', forget);
    cancelLook ??= clock.alarm(LOOK_AGAIN_MS, cutStale);
  }

  /** A former holder may be frozen, not gone: its connections stay open, and their clients would wait for it. */
  function cutStale(): void {
    cancelLook = undefined;
    const pass = serving ? undefined : options.holder()?.pass;
    for (const { pass: given, cut } of relays.values()) if (given !== pass) cut();
    if (relays.size > 0 && !serving) cancelLook = clock.alarm(LOOK_AGAIN_MS, cutStale);
  }

  function admit(door: Door, socket: Socket): void {
    if (!serving) return;
    const lock = serving.locks.get(door);
    if (!lock) return serving.serve[door](socket);
    const { serve } = serving;
    const from = socket.remoteAddress;
    lock(
      socket,
      (secure) => {
        if (secure !== socket) readInTurn(secure, burst);
        serve[door](secure);
      },
      (why) => log('debug', 'connection refused', { door, from, why }),
    );
  }

  async function openPort(text: string, taken: (socket: Socket) => void): Promise<Address> {
    const failed = (error: Error): void => log('debug', 'connection failed', { at: text, error: error.message });
    const port = await listenOn(parseAddress(text), (socket) => {
      socket.on('error', failed);
      readInTurn(socket, burst);
      burst.run(() => socket.destroyed || taken(socket));
    });
    ports.push(port);
    return port.address;
  }

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
        : await openPort(options.peer, (socket) =>
            receivePassed(socket, options, (door, passed) => (serving ? admit(door, passed) : passed.destroy())),
          );
    log('info', 'listening', { http: formatAddress(http), grpc: formatAddress(grpc) });
    return {
      addresses: { http, grpc },
      peer,
      serve(serve, locks = {}) {
        const opened = Object.entries(locks).map(
          ([door, lock]) => [door as Door, openLock(lock, door as Door, clock)] as const,
        );
        serving = { serve, locks: new Map(opened) };
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
