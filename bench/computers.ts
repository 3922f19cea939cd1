// Computers beside the Engine API, by the real suite with a real engine.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { withFolder } from './parts/scratch.ts';

const ROOT = join(import.meta.dirname, '..');
const TEST = 'test/real/computers-figures.test.ts';

type Took = Readonly<Record<'oursExec' | 'theirsExec' | 'oursCreate' | 'theirsCreate', readonly number[]>>;

/** The times that the real suite takes; undefined where its engine cannot be had, which it then names. */
async function measured(folder: string): Promise<Took | undefined> {
  const file = join(folder, 'took.json');
  const vitest = join(ROOT, 'node_modules', '.bin', 'vitest');
  const words = ['run', '--config', 'test/real/vitest.config.ts', TEST];
  const { stdout } = await promisify(execFile)(vitest, words, {
    cwd: ROOT,
    env: { ...process.env, MUSTER_FIGURES_FILE: file },
  });
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Took;
  } catch {
    process.stderr.write(`computers: no figures. ${stdout.split('Not proven').at(-1) ?? ''}\n`);
    return undefined;
  }
}

async function run(report: Report): Promise<void> {
  await withFolder(async (folder) => {
    const took = await measured(folder);
    if (!took) return;
    const [ours, theirs] = [median(took.oursExec), median(took.theirsExec)];
    report.figure('computer-exec', ours, { note: `${took.oursExec.length} in turns with the Engine API` });
    report.figure('computer-exec-engine', theirs);
    report.figure('computer-exec-share', ours / theirs);
    const [made, started] = [median(took.oursCreate), median(took.theirsCreate)];
    report.figure('computer-create', made, { note: `${took.oursCreate.length} in turns with the Engine API` });
    report.figure('computer-create-engine', started);
    report.figure('computer-create-share', made / started);
  });
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
