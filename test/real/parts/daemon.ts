// Programs that run beside a test and end with it, also where the test's own process is killed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { World } from '../../system/harness/world.ts';

const hasSetpriv = spawnSync('setpriv', ['--version']).status === 0;
/** The kernel ends what is started with these words when the process that started it dies. */
const WITH_PARENT: readonly string[] = hasSetpriv ? ['setpriv', '--pdeathsig', 'KILL'] : [];

const STOP_WITHIN_MS = 5_000;

export interface Daemon {
  readonly pid: number;
  readonly ended: Promise<number | null>;
  /** Asks it to end, kills it where it does not, and resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface DaemonOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

function follow(child: ChildProcess): Daemon {
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', () => resolve(null));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const late = AbortSignal.timeout(STOP_WITHIN_MS);
      late.addEventListener('abort', () => child.kill('SIGKILL'));
      await ended;
    },
  };
}

/** Starts a program whose output goes to `NAME.log` of the world. */
export function startDaemon(
  world: World,
  name: string,
  [program = '', ...words]: readonly string[],
  { env = {}, cwd = world.folder }: DaemonOptions = {},
): Daemon {
  const log = openSync(world.path(`${name}.log`), 'a', 0o600);
  const [first = program, ...rest] = [...WITH_PARENT, program, ...words];
  const child = spawn(first, WITH_PARENT.length > 0 ? rest : words, {
    cwd,
    env: { ...world.env, ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  return follow(child);
}
