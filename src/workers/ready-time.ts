// How long machines of a pool take until their agents have joined: by so much earlier a window of a schedule is prepared.
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Pool } from '#core/pool.ts';
import type { Worker } from '#core/worker.ts';
import type { WorkersContext } from './context.ts';
import type { PoolMemory } from './pool-memory.ts';

const MOST_LEAD_MS = 15 * MINUTE_MS;
// Of a pool that has never launched a machine.
const USUAL_LEAD_MS = 5 * MINUTE_MS;
const MOST_TIMES = 50;
const P95 = 0.95;

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

/** How much earlier than its window a worker is launched: 95 of 100 are ready in that time. */
export function leadMs({ readyMs = [] }: Readonly<PoolMemory>): number {
  if (readyMs.length === 0) return USUAL_LEAD_MS;
  const sorted = readyMs.toSorted((a, b) => a - b);
  const longest = sorted[Math.ceil(P95 * sorted.length) - 1] ?? USUAL_LEAD_MS;
  return Math.min(MOST_LEAD_MS, Math.ceil(longest / SECOND_MS) * SECOND_MS);
}
