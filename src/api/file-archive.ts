import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Fault } from '#core/fault.ts';
import { isFileHash } from '#core/file.ts';

export const LARGEST_ARCHIVED_BYTES = 1024 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_FILES = 10_000;
const TAKEN_AT_ONCE = 16;

interface ArchivedFile {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  concat(): Promise<Uint8Array>;
}

const refused = (message: string): Fault =>
  new Fault('invalid', message, {
    at: 'body',
    remedy: 'Send a tar archive of plain files, each named by its hash; send large files one by one.',
  });

function check({ path, type, size }: ArchivedFile, total: { readonly files: number; readonly bytes: number }): void {
  if (type !== 'File' || !isFileHash(path))
    throw refused('An entry of the archive is not a file that is named by its hash.');
  if (size > LARGEST_ARCHIVED_BYTES)
    throw refused(`The archive has a file of more than ${LARGEST_ARCHIVED_BYTES} bytes.`);
  // Counted unpacked: the archive may be compressed.
  if (total.files > MOST_FILES || total.bytes > MOST_BYTES)
    throw refused(`The archive has more than ${MOST_FILES} files or ${MOST_BYTES} bytes.`);
}

/** Takes each file of a tar archive, a few at a time; resolves when all are taken, and throws with the first that is not. */
export async function takeArchive(
  archive: Readable,
  take: (hash: string, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const { t: list } = await import('tar');
  const total = { files: 0, bytes: 0 };
  const taking = new Set<Promise<void>>();
  const stop = new AbortController();

  /** The archive goes on once a file of it is read. */
  async function takeFile(file: ArchivedFile): Promise<void> {
    total.files += 1;
    total.bytes += file.size;
    check(file, total);
    while (taking.size > TAKEN_AT_ONCE) await Promise.race(taking);
    await take(file.path, Readable.from([await file.concat()]));
  }

  function onReadEntry(entry: unknown): void {
    const taken = takeFile(entry as ArchivedFile)
      .catch((thrown) => stop.abort(thrown))
      .finally(() => taking.delete(taken));
    taking.add(taken);
  }

  const sink = list({ strict: true, noResume: true, onReadEntry }) as unknown as Writable;
  await pipeline(archive, sink, { signal: stop.signal }).catch((thrown: Error & { readonly code?: string }) => {
    if (!stop.signal.aborted) throw thrown.code?.startsWith('TAR_') ? refused('The archive is damaged.') : thrown;
  });
  // What is read only in part when another one is refused never ends.
  if (!stop.signal.aborted) await Promise.all(taking);
  if (stop.signal.aborted) throw stop.signal.reason;
}
