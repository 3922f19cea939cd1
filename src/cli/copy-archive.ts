// Files as a tar archive, on the side of the person who copies. The worker is not trusted: nothing is written outside of the
// target, nor through a link.
import type { Stats } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Fault } from '#core/fault.ts';

/** What a copy has done so far. */
export interface CopyCount {
  files: number;
  bytes: number;
  /** Names that were left out: devices, pipes, and links that lead out of the folder. */
  readonly leftOut: string[];
}

export const noCopies = (): CopyCount => ({ files: 0, bytes: 0, leftOut: [] });

const PERMISSIONS = 0o777;
const SPECIAL_BITS = 0o7000;
const KINDS = new Set(['File', 'OldFile', 'ContiguousFile', 'Directory', 'SymbolicLink', 'Link']);

const loadTar = () => import('tar');
type Tar = Awaited<ReturnType<typeof loadTar>>;
type ReadEntry = InstanceType<Tar['ReadEntry']>;

/** `out/.` means what is inside of a folder. */
export const meansContents = (path: string): boolean => /(^|\/)\.{1,2}\/?$/.test(path);

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;

/** Where a copy goes: below a folder that is there, else under the name that was given. */
export async function copyTarget(source: string, target: string): Promise<string> {
  const isThere = await isFolder(target);
  if (!isThere && target.endsWith('/')) throw new Fault('missing', `There is no folder ${target}.`);
  return resolve(isThere && !meansContents(source) ? join(target, posix.basename(source)) : target);
}

const namesIn = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

function leadsOut(path: string, link: string): boolean {
  const names = namesIn(link);
  const first = names.findIndex((name) => name !== '..');
  const up = first < 0 ? names.length : first;
  // After a name, which may be another link, `..` leads elsewhere than the text says.
  const isUnsure = names.slice(up).includes('..');
  return link.startsWith('/') || isUnsure || up >= namesIn(path).length;
}

// For messages: someone may send names without end.
const MOST_NAMED = 1_000;

function leaveOut({ leftOut }: CopyCount, name: string): void {
  if (leftOut.length < MOST_NAMED) leftOut.push(name);
}

/** Unpacks an archive in that folder, which exists. */
async function unpack(tar: Tar, archive: Readable, folder: string, count: CopyCount): Promise<void> {
  const filter = (path: string, given: unknown): boolean => {
    const entry = given as ReadEntry;
    const isRefused = entry.type === 'SymbolicLink' && leadsOut(path, entry.linkpath ?? '');
    if (KINDS.has(entry.type) && !isRefused) return true;
    leaveOut(count, path);
    return false;
  };
  const onReadEntry = (entry: ReadEntry): void => {
    if (entry.mode !== undefined) entry.mode &= PERMISSIONS;
    if (entry.type === 'Directory' || entry.type === 'SymbolicLink') return;
    count.files += 1;
    count.bytes += entry.size;
  };
  const sink = tar.x({ cwd: folder, strict: true, preserveOwner: false, filter, onReadEntry });
  await pipeline(archive, sink as unknown as Writable).catch((thrown: Error & { readonly code?: string }) => {
    const isTars = thrown.code?.startsWith('TAR_') === true;
    throw isTars ? new Fault('unsupported', `The archive of the worker is refused: ${thrown.message}.`) : thrown;
  });
}

/** Writes what the worker sends: a file under its new name only when it is whole, a folder in its place. */
export async function receiveArchive(
  kind: 'file' | 'folder',
  archive: Readable,
  { target, count }: { readonly target: string; readonly count: CopyCount },
): Promise<void> {
  const tar = await loadTar();
  if (kind === 'folder') {
    await mkdir(target).catch((thrown) => {
      if (thrown.code !== 'EEXIST') throw thrown;
    });
    return unpack(tar, archive, target, count);
  }
  const draft = await mkdtemp(join(dirname(target), '.muster-'));
  try {
    await unpack(tar, archive, draft, count);
    const [entry] = await readdir(draft, { withFileTypes: true });
    if (!entry?.isFile()) throw new Fault('unsupported', 'The worker sent no file.');
    await rename(join(draft, entry.name), target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** A file or folder of this machine as an archive whose first entry has that name; without a name the contents of a folder. */
export async function sendArchive(
  source: string,
  { name, to, count }: { readonly name: string | undefined; readonly to: Writable; readonly count: CopyCount },
): Promise<void> {
  const tar = await loadTar();
  const path = resolve(source);
  const isWhole = await isFolder(path);
  const filter = (entryPath: string, given: unknown): boolean => {
    const about = given as Stats;
    if (about.isDirectory() || about.isSymbolicLink()) return true;
    if (about.isFile()) {
      count.files += 1;
      count.bytes += about.size;
    } else leaveOut(count, entryPath);
    return about.isFile();
  };
  const onWriteEntry = (entry: { path: string; stat?: Stats | undefined }): void => {
    if (!isWhole && name !== undefined) entry.path = name;
    if (entry.stat) entry.stat.mode &= ~SPECIAL_BITS;
  };
  const archive = tar.c(
    {
      cwd: isWhole ? path : dirname(path),
      ...(isWhole && name !== undefined && { prefix: name }),
      strict: true,
      // With more jobs at once tar 7.5.23 waits for ever where files have hard links (node-tar, issue 460).
      jobs: 1,
      // A link that was named is followed, as `cp` does it.
      follow: !isWhole,
      filter,
      onWriteEntry,
    },
    [isWhole ? '.' : `./${basename(path)}`],
  );
  await pipeline(archive as unknown as Readable, to);
}
