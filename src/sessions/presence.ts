import type { Clock } from '#core/clock.ts';
import type { Store } from '#core/store.ts';
import { FLEET } from '#core/worker.ts';
import type { Seat } from './queue.ts';

// Long enough that a broken agent cannot burn through the queue, short enough that a bad command does not idle a good agent.
const REST_AFTER_REFUSAL_MS = 1_000;

export interface PoolSeat extends Seat {
  readonly pool: string;
}

interface Connection {
  readonly epoch: number;
  /** What it runs or keeps that is no session of ours any more; each fills a slot until the agent says that it ended. */
  readonly ghosts: Set<string>;
  rests: number;
}

/** What we know of the agents beyond their rows; of connections only, so it need not outlive the process. */
export interface Presence {
  /** Its list was settled against ours: from now on it may get sessions. */
  settle(agent: string, ghosts: Iterable<string>): void;
  isSettled(agent: string): boolean;
  forget(agent: string): void;
  addGhost(agent: string, ghost: string): void;
  dropGhost(agent: string, ghost: string): void;
  /** How many sessions more than it has slots the agent would run if all of ours there were started. */
  excess(agent: string): number;
  /** It refused a session: it gets none for a moment. */
  rest(agent: string): void;
  /** Its room for new sessions, from the rows alone: nothing is counted along. */
  seat(agent: string): PoolSeat | undefined;
  stop(): void;
}

export const ghostOf = (session: string, attempt: number): string => `${session}/${attempt}`;

export function isFrozen({ view }: Pick<Store, 'view'>, pool: string): boolean {
  return view.freezes.get(FLEET) !== undefined || view.freezes.get(pool) !== undefined;
}

interface Options {
  readonly store: Store;
  readonly clock: Clock;
  /** The room of this agent may have changed. */
  changed(agent: string): void;
}

export function openPresence({ store: { view }, clock, changed }: Options): Presence {
  const connections = new Map<string, Connection>();
  const alarms = new Set<() => void>();

  const used = (agent: string, { ghosts }: Connection): number => view.sessions.count('worker', agent) + ghosts.size;

  function settledConnection(agent: string): Connection | undefined {
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
    settle(agent, ghosts) {
      const epoch = view.agents.get(agent)?.epoch;
      if (epoch === undefined) return;
      connections.set(agent, { epoch, ghosts: new Set(ghosts), rests: 0 });
      changed(agent);
    },
    isSettled: (agent) => settledConnection(agent) !== undefined,
    forget: (agent) => void connections.delete(agent),
    addGhost(agent, ghost) {
      connections.get(agent)?.ghosts.add(ghost);
      changed(agent);
    },
    dropGhost(agent, ghost) {
      if (connections.get(agent)?.ghosts.delete(ghost)) changed(agent);
    },
    excess(agent) {
      const connection = settledConnection(agent);
      return connection ? used(agent, connection) - (view.agents.get(agent)?.slots ?? 0) : 0;
    },
    rest(agent) {
      const connection = connections.get(agent);
      if (!connection) return;
      connection.rests += 1;
      later(REST_AFTER_REFUSAL_MS, agent, () => {
        connection.rests -= 1;
      });
      changed(agent);
    },
    seat(id) {
      const agent = view.agents.get(id);
      const connection = settledConnection(id);
      if (!agent || !connection || connection.rests > 0) return undefined;
      const worker = view.workers.get(id);
      if (!worker || worker.drain || worker.parked || worker.removal) return undefined;
      const pool = view.pools.get(worker.pool);
      // A freeze does not stop placing: it guards against acting on what we cannot see, and these agents we see.
      if (!pool || pool.removal || pool.pausedAt !== undefined) return undefined;
      const free = agent.slots - used(id, connection);
      if (free <= 0) return undefined;
      const labels = { ...pool.spec.labels, ...agent.labels };
      return { id, pool: pool.id, free, connectedAt: agent.connectedAt, labels };
    },
    stop() {
      for (const cancel of alarms) cancel();
      alarms.clear();
    },
  };
}
