// Backups and restores. They may take minutes: each has its own thread, so that commits go on meanwhile.
import { resolve } from 'node:path';
import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { HISTORIES } from '#core/store.ts';
import type { HistoryRules } from '#core/table.ts';
import type { Copier, Target, ThreadListener } from './engine.ts';
import { historyTables } from './history-tables.ts';
import { type Link, startThread } from './link.ts';
import { parseStoreUrl } from './store-url.ts';

export interface CopyOptions {
  readonly log: Log;
  /** Absent: those of the program. */
  readonly histories?: HistoryRules | undefined;
  /** Where a bundle has put the thread's program. */
  readonly threadFile?: URL | undefined;
}

async function inOwnThread(options: CopyOptions, work: (copier: Link<Copier>) => Promise<void>): Promise<void> {
  const listener: ThreadListener = { log: options.log, holder: () => {}, lost: () => {} };
  const histories = historyTables(options.histories ?? HISTORIES);
  const copier = startThread<Copier>({ role: 'copy', histories }, listener, options.threadFile);
  try {
    await work(copier);
  } finally {
    await copier.end();
  }
}

/** Writes a consistent copy of a database that may be in use into a new SQLite file. */
export function backup(from: Target, file: string, options: CopyOptions): Promise<void> {
  return inOwnThread(options, (copier) => copier.call('backup', from, resolve(file)));
}

/** Puts a backup into a database that is still empty; the next server that opens it goes on where the backup was made. */
export async function restore(
  file: string,
  url: string,
  options: CopyOptions & { readonly clock: Clock },
): Promise<void> {
  const target = parseStoreUrl(url);
  const restoredAt = options.clock.now();
  await inOwnThread(options, (copier) => copier.call('restore', resolve(file), target, restoredAt));
}
