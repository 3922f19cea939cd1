import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { type ProcessMark, processStart, sendSignal } from '#host/processes.ts';
import { DEFAULT_PATH } from '#host/programs.ts';
import { type Handler, type Listener, listen } from '../listen.ts';
import { placeCurl } from './curl.ts';
import { livingOf } from './living.ts';
import { type Init, openInit, saidText, systemctlScript } from './systemctl.ts';

/** A machine of a fake cloud, as far as it takes to run it. */
export interface Bootable {
  readonly id: string;
  /** `gone` is final; `off` may run again. */
  state(nowMs: number): 'running' | 'off' | 'gone';
  /** When the state may change next; undefined if nothing is planned. */
  nextChangeMs(nowMs: number): number | undefined;
  /** The scripts of its first boot, in order. */
  scripts(): readonly string[];
  /** Opens its metadata service; called at each start. */
  openMetadata(): Handler;
  /** Variables for its processes, given the address of the metadata service. */
  environment(metadataAddress: string): Readonly<Record<string, string>>;
  /** Writes what its image holds below the root, before the first boot. */
  prepare?(root: string): void;
  /** It was shut down from within: its cloud stops or deletes it. Absent: it stays as it is, and off. */
  poweredOff?(nowMs: number): void;
}

/** A machine that really runs: processes of this computer below a folder of its own. */
export interface Machine {
  /** Runs its scripts at the first start, and the enabled services at each later one. */
  on(): Promise<void>;
  /** Ends all its processes. */
  off(): Promise<void>;
  /** Deletes its files; the logs stay. */
  wipe(): void;
  readonly folder: string;
}

const SHUTDOWN_GRACE_MS = 3_000;
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 20;

interface Running {
  readonly init: Init;
  readonly listener: Listener;
  readonly env: Readonly<Record<string, string>>;
}

export interface MachinePlace {
  readonly clock: Clock;
  readonly folder: string;
  /** Someone in it shuts it down; `off` must follow. */
  powerOff(): void;
}

export function openMachine(bootable: Bootable, { clock, folder, powerOff }: MachinePlace): Machine {
  const root = join(folder, 'root');
  const leaders: ProcessMark[] = [];
  let running: Running | undefined;

  const lead = (pid: number): void => {
    const start = processStart(pid);
    if (start !== undefined) leaders.push({ pid, start });
  };

  async function powerUp(): Promise<Running> {
    for (const path of [root, join(folder, 'bin'), join(folder, 'tmp')]) mkdirSync(path, { recursive: true });
    const metadata = bootable.openMetadata();
    const listener = await listen(0, async (request) => {
      if (new URL(request.url).pathname !== '/systemctl') return metadata(request);
      return new Response(saidText(await init.systemctl((await request.text()).split('\n'))));
    });
    writeFileSync(join(folder, 'bin/systemctl'), systemctlScript(`${listener.address}/systemctl`), { mode: 0o755 });
    placeCurl(join(folder, 'bin'));
    const env = {
      PATH: `${join(folder, 'bin')}:${DEFAULT_PATH}`,
      HOME: root,
      TMPDIR: join(folder, 'tmp'),
      LANG: 'C.UTF-8',
      MUSTER_ROOT: root,
      ...bootable.environment(listener.address),
    };
    const logPath = (unit: string): string => join(folder, `${unit}.log`);
    const init = openInit(root, { clock, env, folder: root, logPath, started: lead, powerOff });
    return { init, listener, env };
  }

  /** Runs one script; its output goes to the machine's console. */
  function runScript(script: string, index: number, env: Running['env']): Promise<void> {
    const path = join(folder, `user-data-${index}`);
    writeFileSync(path, script, { mode: 0o700 });
    const [program = '/bin/sh', ...options] = (/^#!\s*(.*)/.exec(script)?.[1] ?? '/bin/sh').split(/\s+/);
    const console = openSync(join(folder, 'console.log'), 'a', 0o600);
    const child = spawn(program, [...options, path], {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', console, console],
    });
    closeSync(console);
    if (child.pid !== undefined) lead(child.pid);
    return new Promise((resolve) => {
      child.once('error', () => resolve());
      child.once('exit', () => resolve());
    });
  }

  async function firstBoot({ env }: Running): Promise<void> {
    for (const [index, script] of bootable.scripts().entries()) {
      if (running) await runScript(script, index + 1, env);
    }
  }

  async function killAll(): Promise<void> {
    const deadlineMs = clock.monotonic() + PATIENCE_MS;
    for (let left = livingOf(folder, leaders); left.length > 0; left = livingOf(folder, leaders)) {
      for (const pid of left) sendSignal(pid, 'SIGKILL');
      if (clock.monotonic() > deadlineMs) return;
      await clock.sleep(LOOK_EVERY_MS);
    }
    leaders.length = 0;
  }

  return {
    folder,
    async on() {
      if (running) return;
      const isFirst = !existsSync(root);
      const up = await powerUp();
      running = up;
      if (!isFirst) return up.init.startEnabled();
      bootable.prepare?.(root);
      void firstBoot(up);
    },
    async off() {
      const down = running;
      running = undefined;
      // A process known only by its parent must be recorded itself before the parent ends.
      for (const pid of livingOf(folder, leaders)) lead(pid);
      await down?.init.stopAll(SHUTDOWN_GRACE_MS);
      await killAll();
      await down?.listener.close();
    },
    wipe() {
      const names = existsSync(folder) ? readdirSync(folder) : [];
      for (const name of names.filter((one) => !one.endsWith('.log'))) {
        rmSync(join(folder, name), { recursive: true, force: true });
      }
    },
  };
}
