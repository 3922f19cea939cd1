// A build of which nothing has changed beside docker build with a warm cache, by the real suite with a real engine.
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { realFigures } from './parts/real-figures.ts';

const TEST = 'test/real/images-figures.test.ts';

interface Took {
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  readonly calls: number;
}

async function run(report: Report): Promise<void> {
  const took = await realFigures<Took>('images', TEST);
  if (!took) return;
  const [ours, theirs] = [median(took.ours), median(took.theirs)];
  report.figure('image-unchanged', ours, { note: `${took.ours.length} in turns with docker build` });
  report.figure('image-unchanged-docker', theirs);
  report.figure('image-unchanged-share', ours / theirs);
  report.figure('image-unchanged-calls', took.calls);
}

export const bench: Bench = {
  order: 157,
  name: 'images',
  measures: ['image-unchanged', 'image-unchanged-docker', 'image-unchanged-share', 'image-unchanged-calls'],
  limitMs: 600_000,
  run,
};
