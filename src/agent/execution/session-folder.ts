// The folder of a session with files: new for each attempt, its own alone, and removed with it.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  lchownSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { chmod, opendir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Manifest, type ManifestEntry, readManifest } from '#core/file-manifest.ts';
import type { Account } from '#host/account.ts';
import type { RunRecord } from './folder.ts';
import { type ContentPiece, type FetchContents, openSessionContents, type WantedContent } from './session-contents.ts';

export interface FolderRequest {
  readonly account?: Account | undefined;
  /** Aborts when the session is stopped before it has started. */
  readonly signal: AbortSignal;
}

type FileEntry = Extract<ManifestEntry, { hash: string }>;

const RETRY_MS = 1_000;
// An existing name is never written to: not what a link leads to, and not another file.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
// The server has checked the manifest against its own limits.
const NO_LIMITS = { count: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

const changed = (what: string): Fault => new Fault('internal', `${what} did not arrive as it was uploaded.`);

/** Makes it deletable first where the session has taken rights away from its own folders. */
export async function removeTree(path: string): Promise<void> {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  await remove().catch(async () => {
    await openFolders(path);
    await remove();
  });
}

async function openFolders(path: string): Promise<void> {
  await chmod(path, 0o700);
  for await (const entry of await opendir(path)) if (entry.isDirectory()) await openFolders(join(path, entry.name));
}

/** Another user reaches a folder below only if it may pass through those above. */
function letPass(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o111) !== 0o111) chmodSync(path, (mode & 0o777) | 0o111);
}

/** Writes the contents of the folder as they come in, each file under its first name, and copies it to the others. */
function openWriter(path: string, manifest: Manifest) {
  const names = new Map<string, FileEntry[]>();
  for (const entry of manifest.entries) {
    if (!('hash' in entry)) continue;
    const same = names.get(entry.hash);
    if (same) same.push(entry);
    else names.set(entry.hash, [entry]);
  }
  const contents = [...names.entries()];
  let next = 0;
  let open: { readonly file: number; readonly hash: ReturnType<typeof createHash> } | undefined;

  function finish(): void {
    const [, [first, ...others]] = contents[next] as [string, [FileEntry, ...FileEntry[]]];
    if (!open) return;
    const { file } = open;
    open = undefined;
    for (const entry of others) {
      copyFileSync(join(path, first.path), join(path, entry.path), constants.COPYFILE_EXCL);
      chmodSync(join(path, entry.path), entry.mode);
    }
    // Last: a mode may forbid to read what is copied.
    fchmodSync(file, first.mode);
    closeSync(file);
    next += 1;
  }

  return {
    /** The contents that are still to come. */
    left: (): readonly WantedContent[] =>
      contents.slice(next).map(([hash, names], n) => ({ number: next + n, hash, bytes: names[0]?.bytes ?? 0 })),
    write({ data, isLast }: ContentPiece): void {
      const [hash, [first]] = contents[next] as [string, [FileEntry]];
      open ??= { file: openSync(join(path, first.path), NEW_FILE, 0o600), hash: createHash('sha256') };
      open.hash.update(data);
      for (let at = 0; at < data.length; ) at += writeSync(open.file, data, at);
      if (!isLast) return;
      if (open.hash.digest('hex') !== hash) throw changed(first.path);
      finish();
    },
    /** The call was cut off in the middle of a file: it comes again from its beginning. */
    dropHalf(): void {
      if (!open) return;
      closeSync(open.file);
      open = undefined;
      const [, [first]] = contents[next] as [string, [FileEntry]];
      rmSync(join(path, first.path), { force: true });
    },
  };
}

/** Gives everything to the account, and folders their modes: the innermost first, since a mode may forbid writing. */
function complete(path: string, { entries }: Manifest, account: Account | undefined): void {
  for (const entry of entries) if ('link' in entry) symlinkSync(entry.link, join(path, entry.path));
  if (account) for (const entry of entries) lchownSync(join(path, entry.path), account.uid, account.gid);
  for (const entry of entries.toReversed()) if ('folder' in entry) chmodSync(join(path, entry.path), entry.mode);
  if (account) lchownSync(path, account.uid, account.gid);
}

export interface SessionFolders {
  /** Makes the folder of a run, or what can be made before the signal aborts; answers its path. */
  make(record: RunRecord, name: string, request: FolderRequest): Promise<string>;
  /** Where the folder of a run is, or would be. */
  pathOf(name: string): string;
  remove(name: string): Promise<void>;
  /** Removes those of runs that are no more, as after a crash. */
  removeOthers(isKnown: (name: string) => boolean): Promise<void>;
  close(): void;
}

export interface SessionFoldersOptions {
  readonly workDir: string;
  readonly fetchContents: FetchContents;
  readonly clock: Clock;
}

export function openSessionFolders({ workDir, fetchContents, clock }: SessionFoldersOptions): SessionFolders {
  const root = join(workDir, 'files');
  const contents = openSessionContents({ workDir, fetchContents, clock });
  const pathOf = (name: string): string => join(root, name);

  /** Repeats a call while the server cannot be reached. */
  async function patiently(signal: AbortSignal, call: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        return await call();
      } catch (thrown) {
        if (Fault.from(thrown).kind !== 'unavailable') throw thrown;
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }

  async function fetchManifest({ session, attempt, spec }: RunRecord, signal: AbortSignal): Promise<Manifest> {
    let pieces: Uint8Array[] = [];
    await patiently(signal, async () => {
      pieces = [];
      for await (const { data } of fetchContents(session, attempt, [])) pieces.push(data);
    });
    if (signal.aborted) return { entries: [], count: 0, bytes: 0 };
    const hash = createHash('sha256');
    for (const piece of pieces) hash.update(piece);
    if (hash.digest('hex') !== spec.files?.manifest) throw changed('The manifest');
    return readManifest(asyncOf(pieces), NO_LIMITS);
  }

  async function fetchAll(
    record: RunRecord,
    writer: ReturnType<typeof openWriter>,
    signal: AbortSignal,
  ): Promise<void> {
    await patiently(signal, async () => {
      writer.dropHalf();
      const left = writer.left();
      if (left.length === 0) return;
      for await (const piece of contents.get(record, left)) {
        if (signal.aborted) break;
        writer.write(piece);
      }
    });
    writer.dropHalf();
  }

  return {
    async make(record, name, { account, signal }) {
      const path = pathOf(name);
      await removeTree(path);
      mkdirSync(path, { recursive: true, mode: 0o700 });
      if (account) for (const above of [workDir, root]) letPass(above);
      const manifest = await fetchManifest(record, signal);
      for (const entry of manifest.entries) if ('folder' in entry) mkdirSync(join(path, entry.path), { mode: 0o700 });
      await fetchAll(record, openWriter(path, manifest), signal);
      if (!signal.aborted) complete(path, manifest, account);
      return path;
    },
    pathOf,
    remove: (name) => removeTree(pathOf(name)),
    async removeOthers(isKnown) {
      const names = await readdir(root).catch(() => []);
      for (const name of names) if (!isKnown(name)) await removeTree(pathOf(name));
    },
    close: contents.close,
  };
}

async function* asyncOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}
