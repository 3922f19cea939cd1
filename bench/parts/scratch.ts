import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearDataDir } from '../../src/providers/process/testing.ts';

/** Below which a bench makes its folders, so that its caller can remove them all. */
export const SCRATCH_VARIABLE = 'MUSTER_BENCH_SCRATCH';

/** Where a server keeps its data, within a folder of a bench. */
export const DATA = 'data';

/** Runs with a folder that is gone afterwards. */
export async function withFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(process.env[SCRATCH_VARIABLE] ?? tmpdir(), 'muster-bench-'));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** For the folders of one bench; `remove` also ends the local agents that it left behind. */
export function openScratch(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'muster-bench-'));
  chmodSync(path, 0o755);
  return {
    path,
    remove() {
      for (const name of readdirSync(path)) clearDataDir(join(path, name, DATA));
      rmSync(path, { recursive: true, force: true });
    },
  };
}
