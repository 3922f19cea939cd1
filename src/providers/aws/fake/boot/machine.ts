import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessMark, processStart, sendSignal } from '#core/processes.ts';
import type { Instance } from '../ec2/instance.ts';
import { openImds } from '../imds.ts';
import { type Listener, listen } from '../listen.ts';
import type { World } from '../world.ts';
import { livingOf } from './living.ts';
import { type Init, openInit, saidText, systemctlScript } from './systemctl.ts';
import { scriptsIn } from './user-data.ts';

/** A machine that really runs: processes of this computer below a folder of its own. */
export interface Machine {
  /** Starts it: its user data at the first time, and each time what is enabled. */
  on(): Promise<void>;
  /** Ends everything of it. */
  off(): Promise<void>;
  /** Takes what it has written away; its logs stay. */
  wipe(): void;
  readonly folder: string;
}

const SHUTDOWN_GRACE_MS = 3_000;
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 20;
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

interface Running {
  readonly init: Init;
  readonly listener: Listener;
  readonly env: Readonly<Record<string, string>>;
}

export interface MachinePlace {
  readonly world: World;
  readonly folder: string;
  readonly image: (root: string, instance: Instance) => void;
}

export function openMachine(instance: Instance, { world, folder, image }: MachinePlace): Machine {
  const { clock } = world;
  const root = join(folder, 'root');
  const leaders: ProcessMark[] = [];
  let running: Running | undefined;

  const lead = (pid: number): void => {
    const start = processStart(pid);
    if (start !== undefined) leaders.push({ pid, start });
  };

  async function powerUp(): Promise<Running> {
    for (const path of [root, join(folder, 'bin'), join(folder, 'tmp')]) mkdirSync(path, { recursive: true });
    const imds = openImds(instance, world);
    const listener = await listen(0, async (request) => {
      if (new URL(request.url).pathname !== '/systemctl') return imds(request);
      return new Response(saidText(await init.systemctl((await request.text()).split('\n'))));
    });
    writeFileSync(join(folder, 'bin/systemctl'), systemctlScript(`${listener.address}/systemctl`), { mode: 0o755 });
    const env = {
      PATH: `${join(folder, 'bin')}:${SYSTEM_PATH}`,
      HOME: root,
      TMPDIR: join(folder, 'tmp'),
      LANG: 'C.UTF-8',
      MUSTER_ROOT: root,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: listener.address,
    };
    const logPath = (unit: string): string => join(folder, `${unit}.log`);
    const init = openInit(root, { clock, env, folder: root, logPath, started: lead });
    return { init, listener, env };
  }

  /** Runs one script of the user data; what becomes of it stands in the machine's console. */
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
    for (const [index, script] of scriptsIn(instance.userData ?? '').entries()) {
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
      image(root, instance);
      void firstBoot(up);
    },
    async off() {
      const down = running;
      running = undefined;
      // Whoever is only known by its parent must be known by itself before that ends.
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
