import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchCloud } from './parts/cloud.ts';
import { poolDocument } from './parts/fleet.ts';
import { median } from './parts/numbers.ts';
import { openBenchPlane } from './parts/plane.ts';
import { type Database, onEachStore, openHeld } from './parts/stores.ts';

const ROUNDS = 10;

/** Two ways to a machine, with prices that are reserved before anything is launched. */
function documentOf(name: string): string {
  const { auto_scaler: scaling } = JSON.parse(poolDocument(name, 1)) as { readonly auto_scaler: object };
  const backends = [
    { bench: { shape: 'scarce' }, price_per_hour: 1, max_agents: 5 },
    { bench: { shape: 'plenty' }, price_per_hour: 2 },
  ];
  return JSON.stringify({ name, auto_scaler: { ...scaling, backends, max_price_per_hour: 4 } });
}

/** The first of two offers has no capacity: answers how long after that word the second is called, for each pool. */
async function measure({ kind: variant, url }: Database, report: Report): Promise<void> {
  const store = await openHeld(url);
  const cloud = openBenchCloud();
  cloud.exhausted.add('scarce');
  const plane = await openBenchPlane({ store, provider: cloud.provider });
  const waits: number[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    const { promise: launched, resolve } = Promise.withResolvers<void>();
    let refusedMs = 0;
    cloud.heard = (call) => {
      if (call === 'refuse') refusedMs = systemClock.monotonic();
      if (call === 'create') resolve();
    };
    await plane.pools.define(documentOf(`two-ways-${n}`), {}, SELF);
    await launched;
    waits.push(systemClock.monotonic() - refusedMs);
  }
  await plane.stop();
  await store.close();
  report.figure('next-offer', Math.max(...waits), {
    variant,
    note: `worst of ${ROUNDS}, median ${median(waits).toFixed(1)} ms`,
  });
}

export const bench: Bench = {
  order: 70,
  name: 'offers',
  measures: ['next-offer'],
  limitMs: 120_000,
  run: (report) => onEachStore((database) => measure(database, report)),
};
