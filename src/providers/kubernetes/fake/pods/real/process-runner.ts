// Runs pods as processes of this computer: the agent's program where the image is an agent, and nothing where it is not.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { livingOf } from '#fakes/boot/living.ts';
import { type ProcessMark, processStart, sendSignal } from '#host/processes.ts';
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../../objects/object.ts';
import type { PodRunner } from '../runner.ts';
import { containersOf } from '../status.ts';
import { inRoot, withoutClusterNames, writeAgentFile } from './agent-config.ts';
import { writePodFiles } from './pod-files.ts';
import { environmentOf, expanded, type Lookup } from './pod-values.ts';

export interface ProcessRunnerOptions {
  readonly clock: Clock;
  readonly folder: string;
  /** What starts the agent's program; the word `agent` and its arguments follow. */
  readonly agentCommand: readonly string[];
  lookup(namespace: string | undefined): Lookup;
}

export interface ProcessRunner extends PodRunner {
  /** SIGKILL for the first process of every container of a pod, as from outside. */
  kill(uid: string): void;
  /** Ends all that runs. */
  close(): Promise<void>;
}

interface Contained {
  readonly root: string;
  readonly leaders: ProcessMark[];
  child: ChildProcess | undefined;
}

interface RunningPod {
  readonly pod: KubeObject;
  readonly folder: string;
  readonly containers: Map<string, Contained>;
  readonly ended: (container: string, exitCode: number) => void;
  isStopping: boolean;
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const LOOK_EVERY_MS = 20;
const PATIENCE_MS = 10_000;
const ADDRESS = '127.0.0.1';

/** An image whose name ends in `agent` and whose entry point is its own is taken for the agent. */
export const isAgent = ({ image, command }: Fields): boolean =>
  command === undefined && /(^|[/-])agent(:[^/]*)?(@.*)?$/.test(textOf(image));

const SIGNAL_BASE = 128;

const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? SIGNAL_BASE + (signal ? constants.signals[signal] : 0);

export function processRunner(options: ProcessRunnerOptions): ProcessRunner {
  const { clock, folder, agentCommand } = options;
  const running = new Map<string, RunningPod>();

  async function killAll({ root, leaders }: Contained): Promise<void> {
    const deadlineMs = clock.monotonic() + PATIENCE_MS;
    for (let left = livingOf(root, leaders); left.length > 0; left = livingOf(root, leaders)) {
      for (const pid of left) sendSignal(pid, 'SIGKILL');
      if (clock.monotonic() > deadlineMs) return;
      await clock.sleep(LOOK_EVERY_MS);
    }
    leaders.length = 0;
  }

  function launch(run: RunningPod, container: Fields, contained: Contained): void {
    const { pod } = run;
    const { root } = contained;
    const name = textOf(container.name);
    const mounts = listOf(container.volumeMounts).map((one) => textOf(fieldsOf(one).mountPath));
    const own = environmentOf(container, pod, options.lookup(pod.metadata.namespace));
    const here = Object.entries(own).map(([key, value]) => [key, inRoot(withoutClusterNames(value), root, mounts)]);
    const config = writeAgentFile(root, own.VELDA_SYSTEM_CONFIG, mounts);
    const args = listOf(container.args).map((word) => expanded(textOf(word), own));
    const [program = '', ...words] = agentCommand;
    mkdirSync(join(folder, 'logs'), { recursive: true });
    const log = openSync(join(folder, 'logs', `${pod.metadata.name}_${name}.log`), 'a', 0o600);
    const child = spawn(program, [...words, 'agent', ...args], {
      cwd: root,
      env: {
        PATH: SYSTEM_PATH,
        HOME: `${root}/`,
        TMPDIR: join(root, 'tmp'),
        LANG: 'C.UTF-8',
        // In a container the name of the host is that of the pod.
        AGENT_NAME: pod.metadata.name,
        ...Object.fromEntries(here),
        VELDA_SYSTEM_CONFIG: config,
      },
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    contained.child = child;
    const start = child.pid === undefined ? undefined : processStart(child.pid);
    if (child.pid !== undefined && start !== undefined) contained.leaders.push({ pid: child.pid, start });
    const over = (exitCode: number): void => {
      if (contained.child !== child) return;
      contained.child = undefined;
      // With the first process of a container all others end.
      if (!run.isStopping) void killAll(contained).then(() => run.ended(name, exitCode));
    };
    child.once('error', () => over(SIGNAL_BASE - 1));
    child.once('exit', (code, signal) => over(exitCodeOf(code, signal)));
  }

  async function stopContained(contained: Contained, graceMs: number): Promise<void> {
    const { child } = contained;
    if (child?.pid !== undefined) {
      const gone = new AbortController();
      child.once('exit', () => gone.abort());
      sendSignal(child.pid, 'SIGTERM');
      await clock.sleep(graceMs, gone.signal);
    }
    await killAll(contained);
  }

  async function stop(run: RunningPod, graceMs: number): Promise<void> {
    run.isStopping = true;
    await Promise.all([...run.containers.values()].map((one) => stopContained(one, graceMs)));
    running.delete(run.pod.metadata.uid);
  }

  return {
    start(pod, ended) {
      const place = join(folder, pod.metadata.uid);
      const { rootOf } = writePodFiles(place, pod, options.lookup(pod.metadata.namespace));
      const run: RunningPod = { pod, folder: place, containers: new Map(), ended, isStopping: false };
      running.set(pod.metadata.uid, run);
      for (const container of containersOf(pod)) {
        const name = textOf(container.name);
        const contained: Contained = { root: rootOf(name), leaders: [], child: undefined };
        run.containers.set(name, contained);
        if (isAgent(container) && agentCommand.length > 0) launch(run, container, contained);
      }
      return Promise.resolve(ADDRESS);
    },
    restart(pod, name) {
      const run = running.get(pod.metadata.uid);
      const contained = run?.containers.get(name);
      const container = containersOf(pod).find((one) => one.name === name);
      if (run && contained && container && isAgent(container) && agentCommand.length > 0)
        launch(run, container, contained);
      return Promise.resolve();
    },
    async stop(pod, graceMs) {
      const run = running.get(pod.metadata.uid);
      if (run) await stop(run, graceMs);
    },
    forget: (pod) => rmSync(join(folder, pod.metadata.uid), { recursive: true, force: true }),
    kill(uid) {
      for (const { child } of running.get(uid)?.containers.values() ?? []) {
        if (child?.pid !== undefined) sendSignal(child.pid, 'SIGKILL');
      }
    },
    async close() {
      await Promise.all([...running.values()].map((run) => stop(run, 0)));
    },
  };
}
