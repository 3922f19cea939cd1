import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bench, Report } from './bench.ts';
import { percentile } from './parts/numbers.ts';
import { withFolder } from './parts/scratch.ts';

const ROOT = join(import.meta.dirname, '..');
const TEST = 'test/real/kubernetes-runtimes.test.ts';
const TITLE = 'from the request to four applied objects';

interface Took {
  readonly muster: readonly number[];
  readonly kubectl: readonly number[];
}

/** The times that the real suite takes with a real API server; undefined where its programs cannot be had. */
async function measured(folder: string): Promise<Took | undefined> {
  const file = join(folder, 'took.json');
  const vitest = join(ROOT, 'node_modules', '.bin', 'vitest');
  const words = ['run', '--config', 'test/real/vitest.config.ts', TEST, '-t', TITLE];
  await promisify(execFile)(vitest, words, { cwd: ROOT, env: { ...process.env, MUSTER_FIGURES_FILE: file } });
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Took;
  } catch {
    return undefined;
  }
}

async function run(report: Report): Promise<void> {
  await withFolder(async (folder) => {
    const took = await measured(folder);
    if (!took) return;
    const ours = percentile(took.muster, 0.99);
    const peers = percentile(took.kubectl, 0.99);
    const note = `p50 ${percentile(took.muster, 0.5).toFixed(0)} ms, ${took.muster.length} runtimes one after the other`;
    report.figure('runtime-objects-p99', ours, { note });
    report.figure('runtime-objects-kubectl-p99', peers, { note: `p50 ${percentile(took.kubectl, 0.5).toFixed(0)} ms` });
    report.figure('runtime-objects-share', ours / peers);
  });
}

export const bench: Bench = {
  order: 155,
  name: 'runtime-objects',
  measures: ['runtime-objects-p99', 'runtime-objects-kubectl-p99', 'runtime-objects-share'],
  limitMs: 600_000,
  run,
};
