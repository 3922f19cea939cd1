import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { runWorld } from '../src/sim/day.ts';
import { NO_FAULTS } from '../src/sim/faults.ts';
import type { Bench, Report } from './bench.ts';

/**
 * A quiet day: the plain world of the simulator without faults, a session for each pool and hour, and all its invariants.
 * Plain, so that versions stay comparable: other worlds also park machines, and hold what later versions add.
 */
async function run(report: Report): Promise<void> {
  const pools = report.isQuick ? 100 : 1_000;
  const startMs = systemClock.monotonic();
  const world = await runWorld({ seed: 1, pools, isPlain: true, sessionsPerPoolHour: 1, faults: NO_FAULTS }, 24);
  const tookMs = systemClock.monotonic() - startMs;
  const { firstBreak } = world.invariants;
  if (firstBreak) throw new Fault('internal', `An invariant broke: ${JSON.stringify(firstBreak)}`);
  const { passes, accepted } = world.figures;
  const each = ((tookMs * 1_000) / passes).toFixed(1);
  const note = `${pools} pools, ${accepted} sessions, ${passes} passes of ${each} µs with all that surrounds them`;
  report.figure('simulated-day', tookMs / 1_000, { note });
}

export const bench: Bench = {
  order: 120,
  name: 'simulated-day',
  measures: ['simulated-day'],
  limitMs: 120_000,
  run,
};
