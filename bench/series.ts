import { HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { openMinuteRings } from '#journal/minute-rings.ts';
import { startSeries } from '#journal/series.ts';
import { NO_FAULTS } from '../src/sim/faults.ts';
import { openSeededWorld } from '../src/sim/seeded-world.ts';
import type { Bench, Report } from './bench.ts';
import { inUse } from './parts/memory.ts';
import { median } from './parts/numbers.ts';
import { threadCpuMs } from './parts/stalls.ts';

const KILOBYTE = 1_024;
const MORE = 8;
const RINGS = 10_000;

/** Processor time of the quiet day of the bench `simulated-day`, with that many series beside its own. */
async function dayMs(pools: number, more: number): Promise<number> {
  const world = await openSeededWorld({ seed: 1, pools, isPlain: true, sessionsPerPoolHour: 1, faults: NO_FAULTS });
  const { life } = world;
  if (!life) throw new Fault('internal', 'The simulated server is down.');
  const startMs = threadCpuMs();
  const beside = Array.from({ length: more }, () =>
    startSeries({ store: life.store, clock: world.clock, wanted: () => 1 }),
  );
  world.load.start();
  await world.advance(24 * HOUR_MS);
  for (const series of beside) void series.stop();
  const tookMs = threadCpuMs() - startMs;
  if (world.invariants.firstBreak) throw new Fault('internal', 'An invariant broke.');
  return tookMs;
}

async function run(report: Report): Promise<void> {
  const pools = report.isQuick ? 100 : 300;
  await dayMs(pools, 0);
  const shares: number[] = [];
  for (let round = 0; round < 3; round++) {
    const plainMs = await dayMs(pools, 0);
    shares.push((((await dayMs(pools, MORE)) - plainMs) / MORE / plainMs) * 100);
  }
  const note = `${pools} pools; ${MORE} more series beside the one of the day, divided`;
  report.figure('series-share', median(shares), { note });
  // Their rows hold the ids already.
  const ids = Array.from({ length: RINGS }, (_, n) => `pool-${n}`);
  const before = await inUse();
  const rings = openMinuteRings();
  for (const [n, id] of ids.entries())
    for (let minute = 0; minute < 60; minute++)
      rings.write(id, minute, { queued: minute, busy: n, idle: 1, starting: 0, wanted: 9, dollars: 1.5 });
  const after = await inUse();
  report.figure('series-memory', (after.heap - before.heap) / RINGS / KILOBYTE, {
    note: `${rings.changes('pool-1').length} minutes of each kept`,
  });
}

export const bench: Bench = {
  order: 131,
  name: 'series',
  measures: ['series-share', 'series-memory'],
  limitMs: 300_000,
  run,
};
