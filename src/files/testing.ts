import { hash } from 'node:crypto';
import { DEFAULT_FILE_LIMITS, type FileLimits } from '#core/file.ts';
import { type ManifestEntry, manifestLine } from '#core/file-manifest.ts';
import { silentLog } from '#core/log.ts';
import { put } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import type { FileContents } from './contents.ts';
import { openFiles } from './files.ts';
import { contentsInMemory } from './in-memory.ts';

export const sha = (text: string): string => hash('sha256', text, 'hex');

export async function* piecesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

export async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

export async function hashesIn(contents: FileContents): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const hash of contents.hashes()) found.push(hash);
  return found.sort();
}

export const fileEntry = (path: string, text: string): ManifestEntry => ({
  path,
  hash: sha(text),
  bytes: Buffer.byteLength(text),
  mode: 0o644,
});

export const manifestOf = (...entries: readonly ManifestEntry[]): string => entries.map(manifestLine).join('');

interface World {
  readonly disk?: Disk;
  readonly contents?: FileContents;
  readonly limits?: Partial<FileLimits>;
}

/** Files on a store and contents that outlive them. */
export async function filesWorld({ disk = emptyDisk(), contents = contentsInMemory(), limits }: World = {}) {
  const clock = new VirtualClock();
  const store = await openStore(memoryDriver(disk), () => {});
  const files = openFiles({
    store,
    clock,
    log: silentLog,
    contents,
    limits: { ...DEFAULT_FILE_LIMITS, ...limits },
  });
  await files.swept;
  return {
    disk,
    contents,
    clock,
    store,
    files,
    upload: (text: string, token = 't1') => files.put(sha(text), piecesOf(text), token),
    /** A live session that names that manifest. */
    async name(manifest: string, id = 's1') {
      const spec = { files: { manifest, count: 1, bytes: 1 }, labels: {} };
      await store.commit([put('sessions', { id, pool: 'p', spec } as never)]);
    },
  };
}
