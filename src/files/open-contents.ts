import { join } from 'node:path';
import type { FileContents } from './contents.ts';
import { contentsOnDisk } from './on-disk.ts';

export interface ContentsPlace {
  readonly dataDir: string;
  /** Where the store is: a takeover must find the files too. */
  readonly store: { readonly kind: 'sqlite' } | { readonly kind: 'postgres'; readonly url: string };
  readonly epoch: number;
}

/** Beside SQLite on disk, with PostgreSQL in it. */
export async function openContents({ dataDir, store, epoch }: ContentsPlace): Promise<FileContents> {
  const directory = join(dataDir, 'files');
  if (store.kind === 'sqlite') return contentsOnDisk(directory);
  const { contentsInPostgres } = await import('./in-postgres.ts');
  return contentsInPostgres({ url: store.url, epoch, directory });
}
