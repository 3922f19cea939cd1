import { inCgroup } from '#host/cgroup.ts';
import { isAlive, ledBy, membersOf, sendSignal, signalGroup } from '#host/processes.ts';
import type { RunProcesses, RunTerminal } from './folder.ts';

/** Processes of a run that may still be alive. */
export interface SignalTarget {
  readonly processes: RunProcesses | undefined;
  /** A terminal's programs are a session of their own, out of reach of the run's group. */
  readonly terminal: RunTerminal | undefined;
  /** Folder of its control group: it holds those too that gave themselves another session or parent. */
  readonly cgroup?: string | undefined;
}

/** Members of the control group, without the processes that copy output and record the exit code. */
function others({ processes, cgroup }: SignalTarget): number[] {
  if (cgroup === undefined) return [];
  const spared = new Set(processes && [processes.leader.pid, ...processes.carriers]);
  // Until the wrapper has reported its pid, every process of the group gets the signal.
  return processes ? inCgroup(cgroup).filter((pid) => !spared.has(pid)) : [];
}

/** All processes of the run that live. */
export function processesOf({ processes, terminal, cgroup }: SignalTarget): readonly number[] {
  const leaders = [processes?.leader, terminal?.leader].filter((leader) => leader !== undefined);
  return [...ledBy(leaders), ...(cgroup === undefined ? [] : inCgroup(cgroup))];
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) sendSignal(pid, signal);
}

function signalTerminal(terminal: RunTerminal | undefined, signal: NodeJS.Signals): void {
  if (terminal) signalAll(ledBy([terminal.leader]), signal);
}

/** Sends SIGTERM to all processes of the run, and SIGCONT so that stopped ones receive it. */
export function askToEnd(target: SignalTarget): void {
  const { processes, terminal } = target;
  // Listed before the group: what is forked in between must not count as outside. Those outside a terminal are killed at
  // the end: among them is what holds the terminal, which must outlive the programs there.
  const all = terminal ? [] : others(target);
  const inGroup = new Set(all.length > 0 && processes ? membersOf('group', processes.leader.pid) : []);
  const escaped = all.filter((pid) => !inGroup.has(pid));
  for (const signal of ['SIGTERM', 'SIGCONT'] as const) {
    if (terminal) signalTerminal(terminal, signal);
    else if (processes) signalGroup(processes.leader, signal);
    signalAll(escaped, signal);
  }
}

/** Interactive shells ignore SIGTERM, but not SIGHUP of their terminal. */
export function hangUp({ terminal }: SignalTarget): void {
  signalTerminal(terminal, 'SIGHUP');
}

/** Kills the command, but not the processes that copy its last output and record its exit code. */
export function endWork(target: SignalTarget): void {
  const { processes, terminal } = target;
  if (terminal) {
    signalTerminal(terminal, 'SIGKILL');
    return;
  }
  if (!processes || !isAlive(processes.leader)) return;
  signalAll(others(target), 'SIGKILL');
  const spared = new Set([processes.leader.pid, ...processes.carriers]);
  const work = membersOf('group', processes.leader.pid).filter((pid) => !spared.has(pid));
  signalAll(work, 'SIGKILL');
}

/** Kills all processes of the run, even if output is lost. */
export function endAll({ processes, terminal, cgroup }: SignalTarget): void {
  signalTerminal(terminal, 'SIGKILL');
  if (cgroup !== undefined) signalAll(inCgroup(cgroup), 'SIGKILL');
  if (processes) signalGroup(processes.leader, 'SIGKILL');
}
