import { Fault } from '#core/fault.ts';
import type { StoredFile } from '#core/file.ts';
import { contentHashes, type Manifest } from '#core/file-manifest.ts';
import type { OneAtATime } from '#core/one-at-a-time.ts';
import { drop } from '#core/store.ts';
import type { Received } from './contents.ts';
import type { FilesDeps } from './files.ts';

// Every row is in memory.
const MOST_FILES = 500_000;
// Deleting reads the manifests of all unended sessions, so each time makes room for many uploads.
const KEPT_SHARE = 0.9;

interface RoomParts {
  readonly turns: OneAtATime;
  /** Manifests of sessions that are being accepted. */
  readonly held: ReadonlyMap<string, number>;
  manifestOf(hash: string): Promise<Manifest>;
}

/** How much room files take; makes room by deleting those that were not used for the longest time. */
export interface Room {
  /** Keeps an upload within the limit; throws `quota` where unended sessions name all that there is. */
  take(bytes: number, received: Received): Promise<void>;
  /** Of all files, also of those that are just being kept. */
  readonly bytes: number;
  /** A row is gone, and its bytes with it. */
  dropped(row: StoredFile): void;
  stop(): void;
}

/** The files to delete: the longest unused first, until bytes and count fit. Pure. */
export function leastUsed(
  rows: readonly StoredFile[],
  isNamed: (hash: string) => boolean,
  excess: { readonly bytes: number; readonly count: number },
): readonly StoredFile[] {
  let { bytes, count } = excess;
  const chosen: StoredFile[] = [];
  for (const row of rows.filter(({ id }) => !isNamed(id)).sort((a, b) => a.usedAt - b.usedAt)) {
    if (bytes <= 0 && count <= 0) break;
    chosen.push(row);
    bytes -= row.bytes;
    count -= 1;
  }
  return chosen;
}

export function openRoom(deps: FilesDeps, { turns, held, manifestOf }: RoomParts): Room {
  const { store, contents, limits, log } = deps;
  const { view } = store;
  let isStopped = false;
  let total = 0;
  let deleting: Promise<void> | undefined;
  for (const row of view.files.all()) total += row.bytes;

  const dropped = (row: StoredFile): void => {
    total -= row.bytes;
  };

  function namedManifests(): Set<string> {
    const named = new Set(held.keys());
    for (const { spec } of view.sessions.all()) if (spec.files) named.add(spec.files.manifest);
    return named;
  }

  /** The manifest and all that it names; one that cannot be read names nothing that could be started. */
  async function hashesIn(manifest: string): Promise<readonly string[]> {
    const read = await manifestOf(manifest).catch(() => undefined);
    return read ? [manifest, ...contentHashes(read)] : [manifest];
  }

  /** Everything that an unended session names. */
  async function namedHashes(): Promise<ReadonlySet<string>> {
    const read = new Set<string>();
    const hashes = new Set<string>();
    for (;;) {
      // Sessions may be accepted while manifests are read: it is complete once nothing is new.
      const fresh = [...namedManifests()].find((hash) => !read.has(hash));
      if (fresh === undefined) return hashes;
      read.add(fresh);
      for (const hash of await hashesIn(fresh)) hashes.add(hash);
    }
  }

  async function deleteLeastUsed(bytes: number): Promise<void> {
    const named = await namedHashes();
    if (isStopped) return;
    const excess = {
      bytes: total + bytes - limits.totalBytes * KEPT_SHARE,
      count: view.files.size + 1 - MOST_FILES * KEPT_SHARE,
    };
    const chosen = leastUsed([...view.files.all()], (id) => named.has(id) || turns.isTaken(id), excess);
    if (chosen.length === 0) return;
    // From here to the end of the commit nothing waits, so no session can come to name one of them.
    const durable = store.commit(chosen.map(({ id }) => drop('files', id)));
    for (const row of chosen) dropped(row);
    log('info', 'deleted the files that were not used for the longest time', { files: chosen.length });
    await durable;
    // Not waited for: an upload of one of them may be before us in its turn, and wait for this room.
    void deleteContents(chosen);
  }

  async function deleteContents(rows: readonly StoredFile[]): Promise<void> {
    try {
      for (const { id } of rows) {
        await turns.take(id, async () => void (view.files.get(id) ?? (await contents.drop(id))));
      }
    } catch (thrown) {
      log('error', 'cannot delete files; the next start will', { error: Fault.from(thrown).message });
    }
  }

  const fits = (bytes: number): boolean => total + bytes <= limits.totalBytes && view.files.size < MOST_FILES;

  return {
    get bytes() {
      return total;
    },
    dropped,
    async take(bytes, received) {
      if (!fits(bytes)) {
        deleting ??= deleteLeastUsed(bytes).finally(() => {
          deleting = undefined;
        });
        await deleting;
      }
      if (!fits(bytes)) {
        await received.discard();
        throw new Fault('quota', `The server keeps at most ${limits.totalBytes} bytes of files.`, {
          remedy: 'Wait until sessions have ended that use files, or raise `files.total_bytes` of the server.',
        });
      }
      total += bytes;
      await received.keep().catch((thrown) => {
        total -= bytes;
        throw thrown;
      });
    },
    stop() {
      isStopped = true;
    },
  };
}
