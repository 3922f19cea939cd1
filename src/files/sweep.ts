import { Fault } from '#core/fault.ts';
import type { StoredFile } from '#core/file.ts';
import type { OneAtATime } from '#core/one-at-a-time.ts';
import { drop } from '#core/store.ts';
import type { FilesDeps } from './files.ts';

interface SweepParts {
  readonly turns: OneAtATime;
  dropped(row: StoredFile): void;
}

/**
 * Brings rows and contents together after a start. Bytes without a row are of an upload or a deletion that was cut short;
 * a row without bytes comes from a backup, which has no bytes.
 */
export async function sweepContents(deps: FilesDeps, { turns, dropped }: SweepParts): Promise<void> {
  const { store, contents, log } = deps;
  const { view } = store;
  try {
    const atStart = [...view.files.all()];
    const found = new Set<string>();
    for await (const hash of contents.hashes()) found.add(hash);
    const orphans = [...found].filter((hash) => !view.files.get(hash));
    for (const hash of orphans) {
      await turns.take(hash, async () => void (view.files.get(hash) ?? (await contents.drop(hash))));
    }
    // An upload makes a new list of tokens; a use keeps it.
    const lost = atStart.filter(({ id, tokens }) => !found.has(id) && view.files.get(id)?.tokens === tokens);
    if (lost.length > 0) await store.commit(lost.map(({ id }) => drop('files', id)));
    for (const row of lost) dropped(row);
    if (orphans.length + lost.length > 0)
      log('warn', 'removed files that an earlier server had not completed', {
        withoutRow: orphans.length,
        withoutBytes: lost.length,
      });
  } catch (thrown) {
    log('error', 'cannot check the stored files', { error: Fault.from(thrown).message });
  }
}
