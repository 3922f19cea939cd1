// Figures that a test of the real suite takes, which writes them to the file that it is given.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withFolder } from './scratch.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Undefined where its parts cannot be had, which the test then names. */
export function realFigures<T>(name: string, test: string): Promise<T | undefined> {
  return withFolder(async (folder) => {
    const file = join(folder, 'took.json');
    const vitest = join(ROOT, 'node_modules', '.bin', 'vitest');
    const words = ['run', '--config', 'test/real/vitest.config.ts', test];
    const { stdout } = await promisify(execFile)(vitest, words, {
      cwd: ROOT,
      env: { ...process.env, MUSTER_FIGURES_FILE: file },
    });
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as T;
    } catch {
      process.stderr.write(`${name}: no figures. ${stdout.split('Not proven').at(-1) ?? ''}\n`);
      return undefined;
    }
  });
}
