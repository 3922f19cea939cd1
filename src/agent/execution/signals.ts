import { isAlive, ledBy, membersOf, sendSignal, signalGroup } from '#host/processes.ts';
import type { RunProcesses, RunTerminal } from './folder.ts';

/** What of a run may still be alive. */
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

/** Asks everything of the run to end; what is stopped wakes up to hear it. */
export function askToEnd({ processes, terminal }: SignalTarget): void {
  for (const signal of ['SIGTERM', 'SIGCONT'] as const) {
    if (terminal) signalTerminal(terminal, signal);
    else if (processes) signalGroup(processes.leader, signal);
  }
}

/** Interactive shells ignore the polite signal; a terminal that hangs up they do not. */
export function hangUp({ terminal }: SignalTarget): void {
  signalTerminal(terminal, 'SIGHUP');
}

/** Ends the work and spares those who carry its last output and write down how it ended. */
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

/** Ends everything of the run, whatever is lost by it. */
export function endAll({ processes, terminal }: SignalTarget): void {
  signalTerminal(terminal, 'SIGKILL');
  if (processes) signalGroup(processes.leader, 'SIGKILL');
}
