// Whatever leaves the process must follow from what the disk holds at that moment: a restart would find the same.
import type { AgentCommand } from '#core/agent-link.ts';
import type { Launch, Machine } from '#core/provider.ts';
import type { Disk } from '#store/memory.ts';
import { rowOn } from '../disk.ts';
import type { Invariants } from '../invariants.ts';

export interface DurabilityLaws {
  creating(launch: Launch): void;
  deleting(machines: readonly Machine[]): void;
  sending(agent: string, command: AgentCommand): void;
  joined(agent: string): void;
  /** Sessions whose acceptance was confirmed to a caller. */
  answered(sessions: readonly { readonly id: string }[]): void;
}

export interface DurabilityOptions {
  readonly invariants: Invariants;
  readonly disk: Disk;
  hasEnded(session: string): boolean;
  /** How far the output of an attempt is on the disk. */
  outputKept(session: string, attempt: number): number;
}

export function durabilityLaws({ invariants, disk, hasEnded, outputKept }: DurabilityOptions): DurabilityLaws {
  const holds = (isKept: boolean, tell: () => string): void => invariants.holds('durable-first', isKept, tell);

  /** What of a command the disk does not bear out. */
  function unfounded(agent: string, command: AgentCommand): boolean {
    if (command.do === 'drain') {
      const worker = rowOn(disk, 'workers', agent);
      return worker !== undefined && !worker.drain && !worker.removal && !worker.parked;
    }
    // Only features with machines of their own move an end or open tunnels to a machine: no simulated world has one.
    if (!('session' in command) || command.session === undefined) return false;
    const row = rowOn(disk, 'sessions', command.session);
    const isHere = row?.worker === agent;
    switch (command.do) {
      case 'start':
        return !isHere || row.attempt !== command.attempt;
      case 'kill':
        return isHere && !row.kill;
      case 'ack': {
        if (!isHere || row.attempt !== command.attempt) return false;
        return command.result || outputKept(command.session, command.attempt) < command.seq;
      }
      default:
        return !isHere;
    }
  }

  return {
    creating({ id, names }) {
      const isAsked = rowOn(disk, 'launches', id) !== undefined;
      holds(isAsked, () => `launch ${id} (${names.join(', ')}) left before it was on the disk`);
    },
    deleting(machines) {
      for (const { name } of machines) {
        const worker = rowOn(disk, 'workers', name);
        holds(!worker || worker.removal !== undefined, () => `${name} is deleted, and on the disk it stays`);
      }
    },
    sending(agent, command) {
      holds(!unfounded(agent, command), () => {
        const about = 'session' in command ? ` of session ${command.session}` : '';
        return `${agent} gets the command ${command.do}${about}, which does not follow from the disk`;
      });
    },
    joined(agent) {
      const isKnown = rowOn(disk, 'workers', agent)?.joinedAt !== undefined;
      holds(isKnown, () => `${agent} was let in before its joining was on the disk`);
    },
    answered(sessions) {
      for (const { id } of sessions) {
        const isKept = rowOn(disk, 'sessions', id) !== undefined || hasEnded(id);
        holds(isKept, () => `session ${id} was accepted before it was on the disk`);
      }
    },
  };
}
