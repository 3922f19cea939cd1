// What of a machine is alive: its agent, and what the sessions of the agent started.
import { readFileSync } from 'node:fs';
import { isAlive, isStillIts, membersOf, type ProcessMark, sendSignal } from '#core/processes.ts';
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

function led(leader: ProcessMark): number[] {
  if (!isStillIts(leader)) return [];
  return [...membersOf('group', leader.pid), ...membersOf('session', leader.pid)];
}

/** The living processes of its sessions. */
export function livingSessions(record: MachineRecord): number[] {
  return [...new Set(sessionLeaders(record.workDir).flatMap(led))];
}

/** The living processes of its agent: itself, and whatever it has started for its own use. */
function livingGroup(folder: MachineFolder, record: MachineRecord): number[] {
  const agent = folder.agent(record);
  if (!agent) return [];
  const isStranger = isAlive(agent) && !mayHaveNonce(agent.pid, record.nonce);
  return isStranger ? [] : led(agent);
}

/** Everything of it that lives. */
export function livingAll(folder: MachineFolder, record: MachineRecord): number[] {
  return [...new Set([...livingGroup(folder, record), ...livingSessions(record)])];
}

export function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) sendSignal(pid, signal);
}
