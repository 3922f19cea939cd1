import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { FileLimits, Files, HeldFiles, StoredFile } from '#core/file.ts';
import { contentHashes, type Manifest, type ManifestLimits, readManifest } from '#core/file-manifest.ts';
import type { Log } from '#core/log.ts';
import { openOneAtATime } from '#core/one-at-a-time.ts';
import { put, type Store } from '#core/store.ts';
import type { FileContents } from './contents.ts';
import { openRoom } from './room.ts';
import { sweepContents } from './sweep.ts';

export interface FilesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly contents: FileContents;
  readonly limits: FileLimits;
}

export interface RunningFiles extends Files {
  /** Resolves when what a crash has left is removed. */
  readonly swept: Promise<void>;
  stop(): Promise<void>;
}

// Enough for the longest paths of an ordinary tree with as many files as a session may have.
const LONGEST_MANIFEST_BYTES = 64 * 1000 ** 2;
const MANIFESTS_KEPT = 4;

const notUploaded = (hash: string): Fault =>
  new Fault('conflict', `The file ${hash} was not uploaded with this token, or is no longer kept.`, {
    at: 'files',
    remedy: 'Ask `/files/missing` which files to upload, and upload them with the same token.',
  });

export function openFiles(deps: FilesDeps): RunningFiles {
  const { store, clock, contents, limits } = deps;
  const { view } = store;
  const turns = openOneAtATime();
  const most: ManifestLimits = { count: limits.sessionFiles, bytes: limits.sessionBytes };
  // The newest last. A manifest is named by its content, so it is never outdated.
  const manifests = new Map<string, Promise<Manifest>>();
  const held = new Map<string, number>();
  const room = openRoom(deps, { turns, held, manifestOf });

  function manifestOf(hash: string): Promise<Manifest> {
    const reading = manifests.get(hash) ?? readManifest(contents.read(hash), most);
    manifests.delete(hash);
    manifests.set(hash, reading);
    reading.catch(() => manifests.delete(hash));
    for (const oldest of manifests.keys()) if (manifests.size > MANIFESTS_KEPT) manifests.delete(oldest);
    return reading;
  }

  function ownRow(hash: string, token: string): StoredFile | undefined {
    const row = view.files.get(hash);
    return row?.tokens.includes(token) ? row : undefined;
  }

  function noteUse(rows: readonly StoredFile[]): void {
    const usedAt = clock.now();
    const stale = rows.filter((row) => usedAt - row.usedAt >= HOUR_MS);
    if (stale.length > 0) store.commit(stale.map((row) => put('files', { ...row, usedAt }))).catch(() => {});
  }

  async function keep(hash: string, content: AsyncIterable<Uint8Array>, token: string): Promise<void> {
    const mostBytes = Math.max(limits.sessionBytes, LONGEST_MANIFEST_BYTES);
    const received = await contents.receive(content, { hash, mostBytes });
    const { bytes } = received;
    await turns.take(hash, async () => {
      const known = view.files.get(hash);
      if (known) await received.discard();
      else await room.take(bytes, received);
      // It may have been uploaded with another token meanwhile, never dropped: that waits for its turn.
      const tokens = new Set([...(view.files.get(hash)?.tokens ?? []), token]);
      await store.commit([put('files', { id: hash, bytes, tokens: [...tokens], usedAt: clock.now() })]);
    });
  }

  function checkOwned(manifest: Manifest, token: string): readonly StoredFile[] {
    return manifest.entries.flatMap((entry) => {
      if (!('hash' in entry)) return [];
      const row = ownRow(entry.hash, token);
      if (!row) throw notUploaded(entry.hash);
      if (row.bytes === entry.bytes) return row;
      throw new Fault('invalid', `The manifest gives ${entry.path} ${entry.bytes} bytes; it has ${row.bytes}.`, {
        at: 'files',
      });
    });
  }

  async function hold(hash: string, token: string): Promise<HeldFiles> {
    const row = ownRow(hash, token);
    if (!row) throw notUploaded(hash);
    if (row.bytes > LONGEST_MANIFEST_BYTES)
      throw new Fault('invalid', `The manifest has more than ${LONGEST_MANIFEST_BYTES} bytes.`, { at: 'files' });
    // From now on it is no candidate for deletion, and what it names is none either.
    held.set(hash, (held.get(hash) ?? 0) + 1);
    const release = (): void => {
      const left = (held.get(hash) ?? 1) - 1;
      if (left > 0) held.set(hash, left);
      else held.delete(hash);
    };
    try {
      const manifest = await manifestOf(hash);
      noteUse([row, ...checkOwned(manifest, token)]);
      return { manifest: hash, count: manifest.count, bytes: manifest.bytes, release };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  return {
    swept: sweepContents(deps, { turns, dropped: room.dropped }),
    missing(hashes, token) {
      const rows = hashes.map((hash) => ownRow(hash, token));
      noteUse(rows.filter((row) => row !== undefined));
      return hashes.filter((_, n) => rows[n] === undefined);
    },
    put: keep,
    hold,
    read: contents.read,
    async contentsOf(hash) {
      return [...contentHashes(await manifestOf(hash))];
    },
    usage: () => ({ files: view.files.size, bytes: room.bytes, limits }),
    async stop() {
      room.stop();
      await contents.close();
    },
  };
}
