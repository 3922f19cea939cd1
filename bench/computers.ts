// Computers beside the Engine API, by the real suite with a real engine.
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { realFigures } from './parts/real-figures.ts';

const TEST = 'test/real/computers-figures.test.ts';

type Took = Readonly<Record<'oursExec' | 'theirsExec' | 'oursCreate' | 'theirsCreate', readonly number[]>>;

async function run(report: Report): Promise<void> {
  const took = await realFigures<Took>('computers', TEST);
  if (!took) return;
  const [ours, theirs] = [median(took.oursExec), median(took.theirsExec)];
  report.figure('computer-exec', ours, { note: `${took.oursExec.length} in turns with the Engine API` });
  report.figure('computer-exec-engine', theirs);
  report.figure('computer-exec-share', ours / theirs);
  const [made, started] = [median(took.oursCreate), median(took.theirsCreate)];
  report.figure('computer-create', made, { note: `${took.oursCreate.length} in turns with the Engine API` });
  report.figure('computer-create-engine', started);
  report.figure('computer-create-share', made / started);
}

export const bench: Bench = {
  order: 156,
  name: 'computers',
  measures: [
    'computer-exec',
    'computer-exec-engine',
    'computer-exec-share',
    'computer-create',
    'computer-create-engine',
    'computer-create-share',
  ],
  limitMs: 600_000,
  run,
};
