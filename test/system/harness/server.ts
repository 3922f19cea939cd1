import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, renameSync } from 'node:fs';
import { Fault } from '#core/fault.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { PROGRAM, placeAgent } from './start-place.ts';
import type { World } from './world.ts';

type Tree = Readonly<Record<string, unknown>>;

/** Where one server listens, and what its file says. */
export interface ServerPlace {
  readonly name: string;
  readonly http: number;
  readonly grpc: number;
  readonly file: string;
  /** Writes the file anew: `more` in place of what was given before. */
  configure(more: Tree): void;
}

export interface PlaceOptions {
  /** Of several in one world. */
  readonly name?: string;
  /** Host to listen on. */
  readonly host?: string;
  /** Nothing is in its data directory: it makes the agent itself. */
  readonly isFirstStart?: boolean;
}

/** Takes ports for a server and writes its file. */
export async function placeServer(world: World, config: Tree, options: PlaceOptions = {}): Promise<ServerPlace> {
  const { name = 'server', host = '127.0.0.1', isFirstStart = false } = options;
  const [http, grpc, peer] = [await freePort(), await freePort(), await freePort()];
  const file = world.path(`${name}.yaml`);
  const place: ServerPlace = {
    name,
    http,
    grpc,
    file,
    configure({ server: limits, ...more }) {
      const server = {
        http_address: `${host}:${http}`,
        grpc_address: `${host}:${grpc}`,
        peer_address: `127.0.0.1:${peer}`,
        ...(limits as object | undefined),
      };
      const base = { server, data_dir: world.dataDir, log: { level: 'debug', format: 'json' } };
      // Whole or not at all: a running server must not read half of it.
      const next = world.write(`${name}.yaml.next`, JSON.stringify({ ...base, ...more }, null, 2));
      renameSync(next, file);
    },
  };
  place.configure(config);
  if (!isFirstStart) placeAgent(world.dataDir);
  return place;
}

/** A pool of agents on this machine that carry the mark of their world. */
export function processPool(
  world: World,
  name: string,
  { slots = 1, env = {}, ...scaler }: Tree & { readonly slots?: number; readonly env?: Tree },
): Tree {
  const backend = { process: { slots, env: { ...world.mark, ...env } } };
  return { name, auto_scaler: { backend, default_slots_per_agent: slots, ...scaler } };
}

export interface RunningServer extends ServerPlace {
  readonly pid: number;
  readonly logName: string;
  /** The objects of its log that bear this message. */
  logged(message: string): readonly Record<string, unknown>[];
  /** Resolves when it serves, or throws with its log where it ended instead. */
  ready(): Promise<RunningServer>;
  signal(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Kills it, and resolves when it is gone. */
  kill(): Promise<void>;
}

let starts = 0;

/** Runs `muster server` on that place. */
export function startServer(
  world: World,
  place: ServerPlace,
  env: Readonly<Record<string, string>> = {},
  program = PROGRAM,
): RunningServer {
  starts += 1;
  const logName = `${place.name}-${starts}.log`;
  const log = openSync(world.path(logName), 'a', 0o600);
  const child: ChildProcess = spawn(process.execPath, [program, 'server', '--config', place.file], {
    cwd: world.folder,
    env: { ...world.env, ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  let isOver = false;
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('exit', (code, signal) => {
      isOver = true;
      resolve({ code, signal });
    }),
  );

  function logged(message: string): Record<string, unknown>[] {
    return world.lines(logName).flatMap((line) => {
      if (!line.includes(`"message":${JSON.stringify(message)}`)) return [];
      return [JSON.parse(line) as Record<string, unknown>];
    });
  }

  const server: RunningServer = {
    ...place,
    pid: child.pid ?? 0,
    logName,
    logged,
    ended,
    async ready() {
      const isServing = await until(`${place.name} serves`, () => isOver || logged('serving').length > 0);
      if (isServing && !isOver) return server;
      throw new Fault('unavailable', `The server ended: ${world.read(logName)}`);
    },
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
  return server;
}
