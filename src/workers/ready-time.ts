// How long machines of a pool take until their agents have joined: by so much earlier a window of a schedule is prepared.
import { leadTimeOf } from '#core/lead-time.ts';
import type { Pool } from '#core/pool.ts';
import type { Worker } from '#core/worker.ts';
import type { WorkersContext } from './context.ts';
import type { PoolMemory } from './pool-memory.ts';

const MOST_TIMES = 50;

/** An agent has joined for the first time. */
export function observeReady({ pools }: WorkersContext, { pool, askedAt, joinedAt, offer }: Worker): void {
  if (offer === undefined || joinedAt === undefined) return;
  const memory = pools.of(pool);
  memory.readyMs = [...(memory.readyMs ?? []), joinedAt - askedAt].slice(-MOST_TIMES);
}

/** Reads once how long earlier machines of a pool took; only pools with schedules ask. */
export function learnReadyTimes(context: WorkersContext, { id, spec }: Pool): void {
  const memory = context.pools.of(id);
  if (!spec.schedules || memory.hasAskedReadyTimes) return;
  memory.hasAskedReadyTimes = true;
  const { store, owned } = context;
  owned.base.start('ready times', async () => {
    const rows = await store.history.endedMachines({ owner: id }, { limit: MOST_TIMES, order: 'newest first' });
    const times = rows.flatMap(({ askedAt, joinedAt }) => (joinedAt === undefined ? [] : [joinedAt - askedAt]));
    for (const { askedAt, joinedAt, offer } of store.view.workers.by('pool', id))
      if (joinedAt !== undefined && offer !== undefined) times.unshift(joinedAt - askedAt);
    if (times.length === 0) return;
    const now = context.pools.of(id);
    now.readyMs = [...times.toReversed(), ...(now.readyMs ?? [])].slice(-MOST_TIMES);
    owned.poke(id);
  });
}

/** How much earlier than its window a worker of the pool is launched. */
export const leadMs = ({ readyMs = [] }: Readonly<PoolMemory>): number => leadTimeOf(readyMs);
