import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Context, Document, Source } from '#core/provider.ts';
import { type FileConfig, placeOf } from './config.ts';
import { fileFault } from './file-fault.ts';
import { type Found, findFiles } from './find-files.ts';
import { type Known, readFileDocument } from './read-file.ts';
import { systemWatch, type WatchFolder, watchTree } from './watch-tree.ts';

// More only wait for each other in the four threads that read files.
const READS_AT_A_TIME = 16;

/** The documents below a directory, or a single file; `watchFolder` is handed in by tests. */
export async function openFileSource(
  config: FileConfig,
  { clock }: Pick<Context, 'clock'>,
  watchFolder: WatchFolder = systemWatch,
): Promise<Source> {
  const root = resolve(placeOf(config));
  let known = new Map<string, Known>();

  async function find(signal: AbortSignal): Promise<readonly Found[]> {
    const stats = await stat(root).catch((thrown) => Promise.reject(fileFault(root, thrown)));
    if (!stats.isDirectory()) return [{ key: basename(root), path: root }];
    return findFiles(root, { mayLeave: config.trusted, signal });
  }

  return {
    async documents(held, signal) {
      const found = await find(signal);
      const next = new Map<string, Known>();
      const documents: Document[] = [];
      const waiting = found.values();
      const readOn = async (): Promise<void> => {
        for (const file of waiting) {
          if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
          const options = { held: held.get(file.key), known: known.get(file.key), nowMs: clock.now() };
          const result = await readFileDocument(file, options);
          if (result?.known) next.set(file.key, result.known);
          if (result) documents.push(result.document);
        }
      };
      await Promise.all(Array.from({ length: READS_AT_A_TIME }, readOn));
      known = next;
      return documents.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    watch: (changed, signal) => watchTree({ path: root, clock, watchFolder, changed }, signal),
  };
}
