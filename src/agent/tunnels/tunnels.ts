import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { TunnelEnd } from '#core/tunnel.ts';
import type { FindProgram } from '#host/programs.ts';
import { openTunnelSide, type TunnelSide } from '#wire/tunnel-pieces.ts';
import type { DuplexCall } from '../dial.ts';
import { openArchive } from './archive.ts';
import type { FarEnd } from './far-end.ts';
import { connectToMachine, connectToPort } from './port.ts';
import type { SessionPlace } from './session-place.ts';

const PATH = '/velda.MusterTunnelService/Tunnel';

type OpenCommand = Extract<AgentCommand, { do: 'open tunnel' }>;

export interface TunnelsOptions {
  /** Opens a call to the broker. */
  duplex(path: string, headers: Readonly<Record<string, string>>): DuplexCall;
  /** Where that attempt of a session runs, or has run; throws a `Fault` where nothing of it is here any more. */
  placeOf(session: string, attempt: number): Promise<SessionPlace>;
  /** Where a session without a directory would start: for tunnels to the machine itself. */
  homeFolder(): string;
  readonly find: FindProgram;
  readonly log: Log;
}

/** Copies and forwarded connections, each a call of its own to the broker. */
export interface Tunnels {
  open(command: OpenCommand): void;
  close(id: string): void;
  /** The session has ended: its ports are no longer reachable. Copies go on. */
  sessionEnded(session: string): void;
}

interface OpenTunnel {
  readonly session: string | undefined;
  readonly to: TunnelEnd;
  close(): void;
}

async function* dataOf(side: TunnelSide): AsyncGenerator<Uint8Array> {
  for (let piece = await side.next(); piece; piece = await side.next()) if (piece.data.length > 0) yield piece.data;
}

const into = (side: TunnelSide): Writable =>
  new Writable({ write: (chunk: Uint8Array, _, done) => void side.send(chunk).then(() => done(), done) });

/** Passes bytes on in both directions until both have ended, or throws. */
async function carry(side: TunnelSide, { readable, writable, finished }: FarEnd): Promise<void> {
  async function sendAll(): Promise<void> {
    await pipeline(readable, into(side));
    await finished();
    await side.end();
  }
  // A program that ends early closes its input: its exit code tells whether that was a failure.
  const takeAll = (into: Writable): Promise<void> =>
    pipeline(dataOf(side), into).catch((thrown: unknown) => {
      if ((thrown as { code?: string }).code !== 'EPIPE') throw thrown;
    });
  await Promise.all([sendAll(), writable && takeAll(writable)]);
}

export function openTunnels({ duplex, placeOf, homeFolder, find, log }: TunnelsOptions): Tunnels {
  const open = new Map<string, OpenTunnel>();

  async function farEndOf({ session, attempt, to }: OpenCommand): Promise<FarEnd> {
    if ('port' in to && session === undefined) return connectToMachine(to.port);
    const place =
      session === undefined ? { session: '', cwd: homeFolder(), pids: () => [] } : await placeOf(session, attempt);
    if ('port' in to) return connectToPort(to.port, place);
    return 'read' in to
      ? openArchive('read', to.read, { place, find })
      : openArchive('write', to.write, { place, find });
  }

  return {
    open(command) {
      const { id, session, to } = command;
      const call = duplex(PATH, { 'x-muster-tunnel': id });
      const side = openTunnelSide(call.messages);
      let far: FarEnd | undefined;
      let isClosed = false;

      function close(): void {
        isClosed = true;
        far?.destroy();
        open.delete(id);
        side.close();
        call.cancel();
      }

      async function serve(): Promise<void> {
        try {
          far = await farEndOf(command);
          if (isClosed) return far.destroy();
          // An empty piece says that the tunnel is open.
          side.opened();
          await carry(side, far);
        } catch (thrown) {
          far?.destroy();
          side.fail(Fault.from(thrown));
        }
        // The server answers by ending the call, and sees by this that all bytes have arrived.
        side.close();
      }

      open.set(id, { session, to, close });
      void call.ended.then(close);
      serve().catch((thrown) => log('warn', 'tunnel failed', { session, error: Fault.from(thrown).message }));
    },
    close: (id) => open.get(id)?.close(),
    sessionEnded(session) {
      for (const tunnel of open.values()) if (tunnel.session === session && 'port' in tunnel.to) tunnel.close();
    },
  };
}
