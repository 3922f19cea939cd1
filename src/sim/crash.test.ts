// The server dropped at every commit, every call to the cloud and every message to an agent of a scripted run.
import { describe, expect, inject, it } from 'vitest';
import type { CrashPoint } from './crash-points.ts';
import { type FaultRates, NO_FAULTS } from './faults.ts';
import { runScript, type ScriptOptions } from './scripted.ts';
import type { SeededWorld } from './seeded-world.ts';

const POINTS = ['commit', 'call', 'message'] as const;

/** Every point of a run, each before and after the other side has it. */
function* pointsOf({ points }: SeededWorld): Iterable<CrashPoint> {
  for (const at of POINTS) {
    for (let nth = 1; nth <= points[at]; nth++) {
      yield { at, nth, isDone: false };
      yield { at, nth, isDone: true };
    }
  }
}

const only = (rates: Partial<FaultRates>): FaultRates => ({ ...NO_FAULTS, ...rates });

const FAULT_SETS: readonly (readonly [string, FaultRates])[] = [
  ['in which nothing else goes wrong', NO_FAULTS],
  ['with late lists and lost replies', only({ 'late-list': 1, 'lost-reply': 0.3, 'partial-reply': 0.2 })],
  ['with a slow disk and slow calls', only({ 'slow-disk': 0.3, 'slow-call': 0.3 })],
  [
    'with machines that die, fail or never boot',
    only({ 'machine-death': 0.2, 'machine-failure': 0.1, 'no-boot': 0.2 }),
  ],
];
const SEEDS = [1, 2, 3];
/** Each seed takes another twelfth of the points; `npm run test:long` takes all of every seed. */
const STRIDE = inject('sliceStride') === 1 ? 1 : 4 * SEEDS.length;

/** Runs it once for every point, and tells where it came to another end. */
async function sweep(options: ScriptOptions): Promise<{ points: number; wrong: string[] }> {
  const whole = await runScript(options);
  const wrong = whole.invariants.firstBreak ? [whole.invariants.firstBreak.message] : [];
  let points = 0;
  for (const [at, crashAt] of [...pointsOf(whole)].entries()) {
    if (at % STRIDE !== (options.seed ?? 0) % STRIDE) continue;
    points += 1;
    const { invariants, figures } = await runScript({ ...options, crashAt });
    const why = figures.crashes === 1 ? invariants.firstBreak?.message : 'it did not die there';
    if (why !== undefined) wrong.push(`seed ${options.seed}, ${JSON.stringify(crashAt)}: ${why}`);
  }
  return { points, wrong };
}

describe('a scripted run', () => {
  it.each(FAULT_SETS)('%s comes to the same end wherever the server dies', async (_title, faults) => {
    const wrong: string[] = [];
    let points = 0;
    for (const seed of SEEDS) {
      const swept = await sweep({ seed, faults });
      points += swept.points;
      wrong.push(...swept.wrong);
    }

    expect(wrong).toEqual([]);
    expect(points).toBeGreaterThan(450 / STRIDE);
  });
});
