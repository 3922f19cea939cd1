import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, readFile, stat } from 'node:fs/promises';
import { Fault } from '#core/fault.ts';
import type { Document } from '#core/provider.ts';
import { codeOf, fileFault } from './file-fault.ts';
import type { Found } from './find-files.ts';

const MOST_BYTES = 1024 * 1024;
const TRIES = 3;
// 64 bits: enough to tell versions of one file apart, short enough to be shown.
const VERSION_DIGITS = 16;
// Two writes within one tick of the file system's clock look alike; FAT counts in two seconds.
const TICK_MS = 2_000;

/** What was known of a file when it was last read. */
export interface Known {
  readonly stamp: string;
  readonly version: string;
  /** Whether a later write would have another stamp. */
  readonly isSettled: boolean;
}

export interface ReadOptions {
  /** The version that need not be sent again. */
  readonly held: string | undefined;
  readonly known: Known | undefined;
  readonly nowMs: number;
}

export interface ReadResult {
  readonly document: Document;
  readonly known?: Known | undefined;
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

function mustBeReadable(path: string, stats: BigIntStats): void {
  if (!stats.isFile()) {
    throw new Fault('invalid', `${path} is not a regular file.`, { remedy: 'Put a plain file there.' });
  }
  if (stats.size > MOST_BYTES) {
    const remedy = 'A pool document is a few hundred lines; put other files elsewhere.';
    throw new Fault('invalid', `${path} is larger than ${MOST_BYTES} bytes.`, { remedy });
  }
}

function textOf(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new Fault('invalid', `${path} is not UTF-8 text.`, { cause: thrown, remedy: 'Save it as UTF-8.' });
  }
}

/** Reads it whole, or throws: what changes while it is read is read again. */
async function readWhole({ key, path }: Found, { held, known, nowMs }: ReadOptions): Promise<ReadResult> {
  for (let tries = 0; tries < TRIES; tries++) {
    const stats = await stat(path, { bigint: true });
    const stamp = stampOf(stats);
    mustBeReadable(path, stats);
    if (known?.isSettled && known.stamp === stamp && known.version === held) {
      return { document: { key, version: held }, known };
    }
    const bytes = await readFile(path);
    if (stampOf(await stat(path, { bigint: true })) !== stamp) continue;
    const version = createHash('sha256').update(bytes).digest('hex').slice(0, VERSION_DIGITS);
    const isSettled = nowMs - Number(stats.mtimeMs) > TICK_MS && nowMs - Number(stats.ctimeMs) > TICK_MS;
    const document = version === held ? { key, version } : { key, version, text: textOf(path, bytes) };
    return { document, known: { stamp, version, isSettled } };
  }
  const remedy = 'Write a new file and rename it over the old.';
  throw new Fault('unavailable', `${path} is being written.`, { remedy });
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** One file as a document, bad or good; undefined where it is gone since it was found. */
export async function readFileDocument(found: Found, options: ReadOptions): Promise<ReadResult | undefined> {
  const { key, path } = found;
  try {
    if (found.fault) throw found.fault;
    return await readWhole(found, options);
  } catch (thrown) {
    // A link whose target is missing is still there; a file that is gone is no document.
    if (codeOf(thrown) === 'ENOENT' && !(await isThere(path))) return undefined;
    const fault = fileFault(path, thrown);
    return { document: { key, version: `fault:${fault.kind}`, fault } };
  }
}
