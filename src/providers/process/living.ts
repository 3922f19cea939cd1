// What of a machine is alive: its agent, and what the sessions of the agent started.
import { readFileSync } from 'node:fs';
import { isAlive, ledBy, ownerOf, type ProcessMark, sendSignal } from '#host/processes.ts';
import type { MachineFolder, MachineRecord } from './machine-folder.ts';
import { sessionLeaders } from './session-folders.ts';

/** In the environment of each agent. */
export const NONCE = 'MUSTER_MACHINE_NONCE';

/** While a process becomes another program its environment cannot be read: that says nothing against it. */
function mayHaveNonce(pid: number, nonce: string): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').filter(Boolean);
    return variables.length === 0 || variables.includes(`${NONCE}=${nonce}`);
  } catch {
    return true;
  }
}

/** The agent of that machine, while it lives: by number, start time and nonce. */
export function livingAgent(folder: MachineFolder, record: MachineRecord): ProcessMark | undefined {
  const agent = folder.agent(record);
  return agent && isAlive(agent) && mayHaveNonce(agent.pid, record.nonce) ? agent : undefined;
}

/** The files of another user's sessions may name any process: only those of that user are counted and signalled. */
function ownOf({ account }: MachineRecord, pids: number[]): number[] {
  return account ? pids.filter((pid) => ownerOf(pid) === account.uid) : pids;
}

/** The living processes of its sessions. */
export function livingSessions(record: MachineRecord): number[] {
  return ownOf(record, ledBy(sessionLeaders(record)));
}

/** Everything of it that lives: its agent, what that has started for its own use, and its sessions. */
export function livingAll(folder: MachineFolder, record: MachineRecord): number[] {
  const agent = folder.agent(record);
  const isStranger = agent && isAlive(agent) && !mayHaveNonce(agent.pid, record.nonce);
  const leaders = sessionLeaders(record);
  return ownOf(record, ledBy(agent && !isStranger ? [agent, ...leaders] : leaders));
}

export function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) sendSignal(pid, signal);
}
