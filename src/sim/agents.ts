// The agents of all simulated machines: each starts with its machine, and dies with it.
import type { Clock } from '#core/clock.ts';
import { type AgentOptions, type SimAgent, startAgent } from './agent.ts';
import type { Chance } from './chance.ts';
import type { Network } from './network.ts';

/** What an agent finds on its machine. */
export interface AgentMachine extends Pick<AgentOptions, 'name' | 'file' | 'token' | 'key' | 'address'> {
  /** Absent: its name, which no other machine has. */
  readonly id?: string;
  /** The agent has left for good; absent: its machine stays as it is. */
  left?(agent: SimAgent): void;
  timeIsOver?(agent: SimAgent): void;
}

export interface SimAgents {
  /** By the id of their machine. */
  readonly all: ReadonlyMap<string, SimAgent>;
  /** Number of starts of each session, over all machines; empty where the caller hears of the starts. */
  readonly runs: ReadonlyMap<string, number>;
  /** Machines that were stopped or deleted while a session ran on them. */
  readonly kills: readonly string[];
  start(machine: AgentMachine): SimAgent;
  /** Nothing runs on that machine any more. */
  end(id: string, isKilled?: boolean): void;
  /** Cuts agents off, or connects them again. */
  cutOff(ids: Iterable<string>, isCutOff: boolean): void;
}

export interface SimAgentsOptions extends Partial<Pick<AgentOptions, 'quirks' | 'refuses' | 'started' | 'ended'>> {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly network: Network;
  gone?(agent: SimAgent): void;
}

export function openSimAgents({ network, gone, ...options }: SimAgentsOptions): SimAgents {
  const all = new Map<string, SimAgent>();
  const runs = new Map<string, number>();
  const kills: string[] = [];

  return {
    all,
    runs,
    kills,
    start({ id, ...machine }) {
      const agent = startAgent({
        quirks: {},
        refuses: () => false,
        started: ({ session }) => void runs.set(session, (runs.get(session) ?? 0) + 1),
        ended: () => {},
        left: () => {},
        ...options,
        ...machine,
        dial: network.dial,
      });
      all.set(id ?? machine.name, agent);
      return agent;
    },
    end(id, isKilled = false) {
      const agent = all.get(id);
      if (!agent) return;
      if (isKilled && agent.running > 0) kills.push(agent.name);
      all.delete(id);
      agent.die();
      network.drop(agent);
      gone?.(agent);
    },
    cutOff(ids, isCutOff) {
      for (const id of ids) {
        const agent = all.get(id);
        if (!agent) continue;
        if (isCutOff) network.cut(agent);
        else network.restore(agent);
      }
    },
  };
}
