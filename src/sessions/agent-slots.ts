import type { Clock } from '#core/clock.ts';
import type { Store } from '#core/store.ts';
import { offeredBy } from './asked-labels.ts';
import { openOwnerOf } from './owner.ts';
import type { Seat } from './queue.ts';

// Long enough that a broken agent cannot empty the queue, short enough that a bad command does not idle a good agent.
const COOL_DOWN_AFTER_REFUSAL_MS = 1_000;

export interface PoolSeat extends Seat {
  readonly pool: string;
}

interface Connection {
  readonly epoch: number;
  /** Attempts that the agent runs or keeps and that are no live session of ours; each takes a slot until the agent reports its end. */
  readonly strays: Set<string>;
  coolDowns: number;
}

/** What we know of agents beyond their rows. All of it is about connections, so it need not outlive the process. */
export interface AgentSlots {
  /** The agent's executions were reconciled with our rows: from now on it may get sessions. */
  reconciled(agent: string, strays: Iterable<string>): void;
  isReconciled(agent: string): boolean;
  forget(agent: string): void;
  addStray(agent: string, stray: string): void;
  dropStray(agent: string, stray: string): void;
  /** By how many sessions the agent would exceed its slots if all that are placed on it were started. */
  excess(agent: string): number;
  /** The agent refused a session: it gets none for a moment. */
  coolDown(agent: string): void;
  /** The agent's free slots, computed from the rows each time. */
  seat(agent: string): PoolSeat | undefined;
  stop(): void;
}

export const strayKey = (session: string, attempt: number): string => `${session}/${attempt}`;

interface Options {
  readonly store: Store;
  readonly clock: Clock;
  /** The free slots of this agent may have changed. */
  changed(agent: string): void;
}

export function openAgentSlots({ store: { view }, clock, changed }: Options): AgentSlots {
  const connections = new Map<string, Connection>();
  const alarms = new Set<() => void>();

  const used = (agent: string, { strays }: Connection): number => view.sessions.count('worker', agent) + strays.size;

  function reconciledConnection(agent: string): Connection | undefined {
    const connection = connections.get(agent);
    return connection && connection.epoch === view.agents.get(agent)?.epoch ? connection : undefined;
  }

  function later(ms: number, agent: string, run: () => void): void {
    const cancel = clock.alarm(ms, () => {
      alarms.delete(cancel);
      run();
      changed(agent);
    });
    alarms.add(cancel);
  }

  return {
    reconciled(agent, strays) {
      const epoch = view.agents.get(agent)?.epoch;
      if (epoch === undefined) return;
      connections.set(agent, { epoch, strays: new Set(strays), coolDowns: 0 });
      changed(agent);
    },
    isReconciled: (agent) => reconciledConnection(agent) !== undefined,
    forget: (agent) => void connections.delete(agent),
    addStray(agent, stray) {
      connections.get(agent)?.strays.add(stray);
      changed(agent);
    },
    dropStray(agent, stray) {
      if (connections.get(agent)?.strays.delete(stray)) changed(agent);
    },
    excess(agent) {
      const connection = reconciledConnection(agent);
      return connection ? used(agent, connection) - (view.agents.get(agent)?.slots ?? 0) : 0;
    },
    coolDown(agent) {
      const connection = connections.get(agent);
      if (!connection) return;
      connection.coolDowns += 1;
      later(COOL_DOWN_AFTER_REFUSAL_MS, agent, () => {
        connection.coolDowns -= 1;
      });
      changed(agent);
    },
    seat(id) {
      const agent = view.agents.get(id);
      const connection = reconciledConnection(id);
      if (!agent || !connection || connection.coolDowns > 0) return undefined;
      const owner = openOwnerOf({ view }, id);
      if (!owner) return undefined;
      const free = agent.slots - used(id, connection);
      if (free <= 0) return undefined;
      const labels = { ...owner.labels, ...offeredBy(agent) };
      return { id, pool: owner.id, free, connectedAt: agent.connectedAt, labels };
    },
    stop() {
      for (const cancel of alarms) cancel();
      alarms.clear();
    },
  };
}
