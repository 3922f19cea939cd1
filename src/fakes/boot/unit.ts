import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Clock } from '#core/clock.ts';
import { sendSignal } from '#host/processes.ts';
import type { UnitFile } from './unit-file.ts';

/** A service of a machine: while it is wanted it runs, and is started again as its file says. */
export interface Unit {
  start(): void;
  /** Asks it to end; resolves when it has, or after the grace. */
  stop(graceMs: number): Promise<void>;
  isActive(): boolean;
  readonly pid: number | undefined;
}

export interface UnitPlace {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string>>;
  readonly logPath: string;
  readonly folder: string;
  /** Called with each process, so that none is left when the machine ends. */
  started(pid: number): void;
}

function launch(command: readonly string[], file: UnitFile, place: UnitPlace, more = {}): ChildProcess {
  const { env, logPath, folder, started } = place;
  const log = openSync(logPath, 'a', 0o600);
  const [program = '', ...rest] = command;
  // A session of its own: nothing that its user-data script does on its end reaches it.
  const child = spawn(program, rest, {
    cwd: file.folder ?? folder,
    env: { ...env, ...file.environment, ...more },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  if (child.pid !== undefined) started(child.pid);
  return child;
}

export function openUnit(read: () => UnitFile, place: UnitPlace): Unit {
  const { clock } = place;
  let child: ChildProcess | undefined;
  let isWanted = false;
  let cancelRestart = (): void => {};
  let ended: (() => void)[] = [];

  function over(status: string, file: UnitFile): void {
    child = undefined;
    for (const tell of ended) tell();
    ended = [];
    afterwards(file, status, () => {
      const isDue = file.restarts === 'always' || (file.restarts === 'on-failure' && status !== '0');
      if (isWanted && isDue && !child) cancelRestart = clock.alarm(file.restartMs, run);
    });
  }

  function afterwards(file: UnitFile, status: string, done: () => void): void {
    if (file.stopPost.length === 0) return done();
    const last = launch(file.stopPost, file, place, { EXIT_STATUS: status });
    last.once('error', done);
    last.once('exit', done);
  }

  function run(): void {
    const file = read();
    const started = launch(file.command, file, place);
    child = started;
    started.once('error', () => over('203', file));
    started.once('exit', (code, signal) => over(signal?.slice('SIG'.length) ?? String(code), file));
  }

  return {
    get pid() {
      return child?.pid;
    },
    isActive: () => child !== undefined,
    start() {
      isWanted = true;
      cancelRestart();
      if (!child) run();
    },
    async stop(graceMs) {
      isWanted = false;
      cancelRestart();
      const pid = child?.pid;
      if (pid === undefined) return;
      const waiting = new AbortController();
      ended.push(() => waiting.abort());
      sendSignal(pid, 'SIGTERM');
      await clock.sleep(graceMs, waiting.signal);
      if (child?.pid === pid) sendSignal(-pid, 'SIGKILL');
    },
  };
}
