import { isAlive, ledBy, membersOf, sendSignal, signalGroup } from '#host/processes.ts';
import type { RunProcesses, RunTerminal } from './folder.ts';

/** Processes of a run that may still be alive. */
export interface SignalTarget {
  readonly processes: RunProcesses | undefined;
  /** A terminal's programs are a session of their own, out of reach of the run's group. */
  readonly terminal: RunTerminal | undefined;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) sendSignal(pid, signal);
}

function signalTerminal(terminal: RunTerminal | undefined, signal: NodeJS.Signals): void {
  if (terminal) signalAll(ledBy([terminal.leader]), signal);
}

/** Sends SIGTERM to all processes of the run, and SIGCONT so that stopped ones receive it. */
export function askToEnd({ processes, terminal }: SignalTarget): void {
  for (const signal of ['SIGTERM', 'SIGCONT'] as const) {
    if (terminal) signalTerminal(terminal, signal);
    else if (processes) signalGroup(processes.leader, signal);
  }
}

/** Interactive shells ignore SIGTERM, but not SIGHUP of their terminal. */
export function hangUp({ terminal }: SignalTarget): void {
  signalTerminal(terminal, 'SIGHUP');
}

/** Kills the command, but not the processes that copy its last output and record its exit code. */
export function endWork({ processes, terminal }: SignalTarget): void {
  if (terminal) {
    signalTerminal(terminal, 'SIGKILL');
    return;
  }
  if (!processes || !isAlive(processes.leader)) return;
  const spared = new Set([processes.leader.pid, ...processes.carriers]);
  const work = membersOf('group', processes.leader.pid).filter((pid) => !spared.has(pid));
  signalAll(work, 'SIGKILL');
}

/** Kills all processes of the run, even if output is lost. */
export function endAll({ processes, terminal }: SignalTarget): void {
  signalTerminal(terminal, 'SIGKILL');
  if (processes) signalGroup(processes.leader, 'SIGKILL');
}
