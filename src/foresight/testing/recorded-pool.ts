// A pool with a history in memory: sessions that came and machines that were launched for them.
import { readPool } from '#config/pool-document.ts';
import { standInKinds } from '#config/testing.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { idsFrom } from '#core/id.ts';
import type { EndedMachine } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import type { Session } from '#core/session.ts';
import { append, type Change, HISTORIES, type Store } from '#core/store.ts';
import { defaultRetention } from '#core/table.ts';
import { aPool } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import type { ForecastDeps } from '../forecast.ts';
import { answerQuestion } from '../model-question.ts';
import type { ModelThread } from '../model-turns.ts';

export const NOW_MS = Date.UTC(2026, 10, 19);

/** Answers at once, in this thread. */
export const modelAtOnce: ModelThread = {
  run: async (prepare, { signal = new AbortController().signal } = {}) => answerQuestion(await prepare(signal)),
  async close() {},
};

/** A pool as its document defines it. */
export function poolOf(document: string, row: Partial<Pool> = {}): Pool {
  const { spec, problems } = readPool(document, { kinds: standInKinds.backends, trust: 'operator' });
  if (!spec) throw new Error(JSON.stringify(problems));
  return { ...aPool({}, {}, { createdAt: NOW_MS - 60 * DAY_MS, ...row }), name: spec.name, spec };
}

export const GPU = `
name: gpu
auto_scaler:
  backends: [{ process: {}, price_per_hour: 2 }]
  max_agents: 20
  max_idle_agents: 1
  idle_decay: 5m
`;

export function endedSession(pool: Pool, atMs: number, { waitedMs = 0, lastsMs = 5 * MINUTE_MS } = {}): Session {
  const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries: 0 };
  const [placedAt, id] = [atMs + waitedMs, `${idsFrom(atMs)}0000session`];
  const times = { acceptedAt: atMs, placedAt, end: { at: placedAt + lastsMs, how: 'exited', exitCode: 0 } as const };
  return { id, pool: pool.id, poolName: pool.name, spec, by: 'token:test', attempt: 1, ...times };
}

export function endedMachine(
  pool: Pool,
  askedAt: number,
  { readyMs = MINUTE_MS, livesMs = HOUR_MS } = {},
): EndedMachine {
  const endedAt = askedAt + livesMs;
  const offer = pool.spec.offers[0]?.id ?? '';
  return {
    ...{ id: `${idsFrom(endedAt)}0000machine`, machine: `m-${askedAt}`, use: 'worker', owner: pool.id, offer },
    ...{ kind: 'process', askedAt, createdAt: askedAt + SECOND_MS, joinedAt: askedAt + readyMs, endedAt },
    ...{ removedAt: endedAt - SECOND_MS, how: 'removed', prices: [{ from: askedAt, perHour: 2 }] },
  };
}

/** A session and its machine in each hour of so many days before now. */
export function recordedDays(pool: Pool, days: number): Change[] {
  return Array.from({ length: days * 24 }, (_, hour) => NOW_MS - (hour + 1) * HOUR_MS).flatMap((atMs) => [
    append('ended', endedSession(pool, atMs, { waitedMs: MINUTE_MS })),
    append('endedMachines', endedMachine(pool, atMs, { livesMs: 11 * MINUTE_MS })),
  ]);
}

export async function openRecords(changes: readonly Change[]): Promise<ForecastDeps & { readonly store: Store }> {
  const store = await openStore(memoryDriver(), () => {});
  await store.commit(changes);
  return {
    store,
    clock: new VirtualClock(NOW_MS),
    clouds: { priceOf: () => undefined },
    kinds: standInKinds,
    journal: { retention: defaultRetention(HISTORIES) },
    model: modelAtOnce,
  };
}
