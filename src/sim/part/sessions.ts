// As little of sessions as workers need to be tried alone: a queue, slots, and starting anew when a machine is gone.
import type { Clock } from '#core/clock.ts';
import type { Session } from '#core/session.ts';
import type { Change, Store } from '#core/store.ts';
import type { SimAgents } from './agents.ts';

export interface SimSessions {
  submit(pool: string, count: number, durationMs: number): Promise<void>;
  joined(agent: string, running: readonly string[], finished: readonly string[]): void;
  finished(agent: string, session: string): void;
}

const rowChange = (id: string, row: Session | undefined): Change => ({ table: 'sessions', id, row });

function aSession(id: string, pool: string, durationMs: number): Session {
  return {
    id,
    pool,
    poolName: pool,
    acceptedAt: 0,
    by: 'test',
    attempt: 0,
    spec: {
      command: ['true'],
      env: {},
      stdin: false,
      priority: 0,
      labels: {},
      timeoutMs: durationMs,
      graceMs: 0,
      retries: 3,
    },
  };
}

/** `timeoutMs` of a session stands for how long it runs. */
export function simSessions({ store, clock, agents }: { store: Store; clock: Clock; agents: SimAgents }): SimSessions {
  const { view } = store;
  let count = view.sessions.size + store.epoch * 1_000_000;
  let isPlacing = false;

  function place(): void {
    if (isPlacing) return;
    isPlacing = true;
    clock.soon(() => {
      isPlacing = false;
      for (const pool of view.pools.all()) placeIn(pool.id);
    });
  }

  function placeIn(pool: string): void {
    const free = [...view.agents.by('owner', pool)].flatMap((agent) => {
      const worker = view.workers.get(agent.id);
      const isOpen = worker && !worker.drain && !worker.parked && !worker.removal;
      return isOpen ? Array(Math.max(0, agent.slots - view.sessions.count('worker', agent.id))).fill(agent.id) : [];
    }) as string[];
    for (const session of [...view.sessions.by('queue', pool)]) {
      const worker = free.shift();
      if (worker === undefined) return;
      const placed = { ...session, worker, attempt: session.attempt + 1 };
      store.commit([rowChange(session.id, placed)]).then(
        () => agents.start(worker, session.id, session.spec.timeoutMs ?? 0),
        () => {},
      );
    }
  }

  store.onChange('workers', (after, _before, id) => {
    if (after) return place();
    const orphans = [...view.sessions.by('worker', id)];
    store.commit(orphans.map((session) => rowChange(session.id, { ...session, worker: undefined }))).catch(() => {});
    place();
  });
  store.onChange('agents', place);
  store.onChange('sessions', (after, before) => {
    if (!after || !before || after.worker !== before.worker) place();
  });
  place();

  function end(agent: string, session: string): void {
    store.commit([rowChange(session, undefined)]).then(
      () => agents.ack(agent, session),
      () => {},
    );
  }

  return {
    async submit(pool, howMany, durationMs) {
      const rows = Array.from({ length: howMany }, () => {
        count += 1;
        return aSession(`s${String(count).padStart(12, '0')}`, pool, durationMs);
      });
      await store.commit(rows.map((row) => rowChange(row.id, row)));
    },
    joined(agent, running, finished) {
      for (const session of finished) end(agent, session);
      for (const session of view.sessions.by('worker', agent)) {
        const isKnown = running.includes(session.id) || finished.includes(session.id);
        // Placed, and the agent never heard of it.
        if (!isKnown) agents.start(agent, session.id, session.spec.timeoutMs ?? 0);
      }
    },
    finished: end,
  };
}
