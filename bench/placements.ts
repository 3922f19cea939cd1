import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import { put, type Store } from '#core/store.ts';
import type { Plane } from '../src/program/plane.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchCloud } from './parts/cloud.ts';
import { agentOf } from './parts/fleet.ts';
import { openNullStore } from './parts/null-store.ts';
import { median } from './parts/numbers.ts';
import { openBenchPlane } from './parts/plane.ts';

const AGENTS = 100;
const SESSIONS = 20_000;
const SESSIONS_A_LIST = 1_000;
const ROUNDS = 5;
const POOL = 'placements';

/** Agents of a manual pool, with room for all sessions, not announced yet. */
async function seatAgents({ store, plane }: { store: Store; plane: Plane }): Promise<void> {
  const [pool] = store.view.pools.by('name', POOL);
  const names = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`);
  const rows = names.map((id) => ({ id, pool: pool?.id ?? '', machine: id, askedAt: 1, createdAt: 1, joinedAt: 1 }));
  await store.commit(rows.map((row) => put('workers', row)));
  const slots = SESSIONS / AGENTS;
  await store.commit(rows.map((row) => put('agents', { ...agentOf(row, 1), slots })));
  for (const { id } of rows) plane.sessions.agentJoined(id, []);
}

/** Sessions wait, then agents come: answers how many were placed and sent each second. */
async function round(): Promise<number> {
  const store = await openNullStore();
  let told = 0;
  const { promise: allTold, resolve } = Promise.withResolvers<void>();
  const plane = await openBenchPlane({
    store,
    provider: openBenchCloud().provider,
    tell(_agent, command) {
      if (command.do === 'start' && ++told === SESSIONS) resolve();
    },
  });
  await plane.pools.define(JSON.stringify({ name: POOL }), {}, SELF);
  const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 0 };
  for (let n = 0; n < SESSIONS; n += SESSIONS_A_LIST) {
    const requests = Array.from({ length: SESSIONS_A_LIST }, () => ({ pool: POOL, spec }));
    await plane.sessions.submit(requests, SELF);
  }
  const startMs = systemClock.monotonic();
  await seatAgents({ store, plane });
  await allTold;
  const tookMs = systemClock.monotonic() - startMs;
  await plane.stop();
  return (SESSIONS / tookMs) * 1_000;
}

async function run(report: Report): Promise<void> {
  const rates: number[] = [];
  for (let n = 0; n < ROUNDS; n++) rates.push(await round());
  report.figure('placement-rate', median(rates), {
    note: `median of ${ROUNDS}, best ${Math.round(Math.max(...rates))}`,
  });
}

export const bench: Bench = {
  order: 20,
  name: 'placements',
  measures: ['placement-rate'],
  limitMs: 60_000,
  run,
};
