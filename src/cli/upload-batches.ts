// Small files go together: for each request of its own, a small file takes longer than its bytes do.
import { Fault } from '#core/fault.ts';
import type { LocalFile } from './synced-folder.ts';

const SMALL_BYTES = 256 * 1024;
const BATCH_BYTES = 2 * 1024 * 1024;
const BATCH_FILES = 1_000;

export const sumOfBytes = (files: readonly LocalFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Small files in batches of bounded size, each larger one alone; the order stays. */
export function inBatches(files: readonly LocalFile[]): readonly (readonly LocalFile[])[] {
  const batches: LocalFile[][] = [];
  let open: LocalFile[] = [];
  let openBytes = 0;
  for (const file of files) {
    if (file.bytes > SMALL_BYTES) {
      batches.push([file]);
      continue;
    }
    if (open.length === 0 || open.length >= BATCH_FILES || openBytes + file.bytes > BATCH_BYTES) {
      open = [];
      openBytes = 0;
      batches.push(open);
    }
    open.push(file);
    openBytes += file.bytes;
  }
  return batches;
}

/** A tar archive of files of a folder, each named by its hash. */
export async function archiveOf(folder: string, files: readonly LocalFile[]): Promise<Uint8Array> {
  const { c: pack } = await import('tar');
  // A name that begins with `@` would mean the entries of that archive.
  const hashes = new Map(files.map(({ path, hash }) => [`./${path}`, hash]));
  try {
    const archive = pack(
      {
        cwd: folder,
        portable: true,
        strict: true,
        noDirRecurse: true,
        onWriteEntry(entry) {
          entry.path = hashes.get(entry.path) ?? entry.path;
        },
      },
      [...hashes.keys()],
    );
    return await archive.concat();
  } catch (cause) {
    throw new Fault('invalid', `A file changed while it was read: ${Fault.from(cause).message}`, {
      cause,
      remedy: 'Start the session again.',
    });
  }
}
