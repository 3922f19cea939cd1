// What a folder holds, one JSON object a line, in the order of the paths. The same folder always makes the same bytes.
import { Fault } from './fault.ts';
import { isFileHash } from './file.ts';

export type ManifestEntry =
  | { readonly path: string; readonly folder: true; readonly mode: number }
  | { readonly path: string; readonly hash: string; readonly bytes: number; readonly mode: number }
  /** A symbolic link to a place inside the folder. */
  | { readonly path: string; readonly link: string };

export interface Manifest {
  readonly entries: readonly ManifestEntry[];
  /** Files and links. */
  readonly count: number;
  /** Of all files, each counted as often as it is named. */
  readonly bytes: number;
}

const LONGEST_PATH_BYTES = 4_000;
const LONGEST_NAME_BYTES = 255;
const MODES = 0o777;
// Links in a circle: Linux gives up after 40 of them, each shorter than the longest path.
const MOST_STEPS = 40 * LONGEST_PATH_BYTES;

const invalid = (message: string, remedy = 'Let `muster run --sync` make the manifest.'): Fault =>
  new Fault('invalid', message, { at: 'files', remedy });

/** For messages: a path may hold any character but a zero byte. */
const quoted = (path: string): string => JSON.stringify(path.slice(0, 200));

/** The order of the lines: by code units, so that a folder comes before what is in it. */
export const inManifestOrder = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : 1;

/** Whether a relative path names the folder itself or something in it. */
export function isInsideFolder(path: string): boolean {
  let depth = 0;
  for (const name of path.split('/')) {
    if (name === '..') depth -= 1;
    else if (name !== '' && name !== '.') depth += 1;
    if (depth < 0) return false;
  }
  return true;
}

export const manifestLine = (entry: ManifestEntry): string => `${JSON.stringify(entry)}\n`;

function checkPath(path: unknown): asserts path is string {
  if (typeof path !== 'string' || path.includes('\0') || !path.isWellFormed())
    throw invalid('A path of the manifest is not a valid text.');
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) throw invalid(`The path ${quoted(path)}… is too long.`);
  for (const name of path.split('/')) {
    if (name === '' || name === '.' || name === '..')
      throw invalid(`${quoted(path)} is not a path inside the folder.`, 'Write relative paths without "..".');
    if (Buffer.byteLength(name) > LONGEST_NAME_BYTES) throw invalid(`A name in ${quoted(path)} is too long.`);
  }
}

function checkMode(mode: unknown, path: string): asserts mode is number {
  if (typeof mode === 'number' && Number.isInteger(mode) && mode >= 0 && mode <= MODES) return;
  throw invalid(`The mode of ${quoted(path)} is not one of 0 to 0777.`, 'Leave out setuid, setgid and sticky.');
}

function entryOf(line: string): ManifestEntry {
  let sent: Readonly<Record<string, unknown>>;
  try {
    sent = JSON.parse(line);
  } catch (cause) {
    throw new Fault('invalid', 'A line of the manifest is not JSON.', { at: 'files', cause });
  }
  if (typeof sent !== 'object' || sent === null) throw invalid('A line of the manifest is no object.');
  const { path, folder, hash, bytes, mode, link } = sent;
  checkPath(path);
  if (link !== undefined) {
    if (typeof link !== 'string' || link === '' || link.includes('\0') || Buffer.byteLength(link) > LONGEST_PATH_BYTES)
      throw invalid(`The target of the link ${quoted(path)} is not a valid text.`);
    return { path, link };
  }
  checkMode(mode, path);
  if (folder === true) return { path, folder, mode };
  if (!isFileHash(hash)) throw invalid(`The hash of ${quoted(path)} is not a SHA-256 in hexadecimal.`);
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 0) throw invalid(`The size of ${quoted(path)} is invalid.`);
  return { path, hash, bytes: bytes as number, mode };
}

/**
 * Whether a link leads out of the folder, walked as the system walks it: by the other links too, since `..` after a link
 * leads elsewhere than the text says.
 */
export function leavesFolder(
  { path, link }: { readonly path: string; readonly link: string },
  linkAt: (path: string) => string | undefined,
): boolean {
  const place = path.split('/').slice(0, -1);
  const ahead: string[] = [];
  let steps = 0;

  /** Continues at the target of a link; false where that is certainly outside. */
  function follow(target: string): boolean {
    ahead.push(...target.split('/').reverse());
    return !target.startsWith('/');
  }

  /** False where this step leaves the folder. */
  function step(name: string): boolean {
    if (name === '' || name === '.') return true;
    if (name === '..') return place.pop() !== undefined;
    const target = linkAt([...place, name].join('/'));
    if (target !== undefined) return follow(target);
    place.push(name);
    return true;
  }

  if (!follow(link)) return true;
  for (let name = ahead.pop(); name !== undefined && steps < MOST_STEPS; name = ahead.pop()) {
    if (!step(name)) return true;
    steps += 1;
  }
  return false;
}

/** Hashes of the different contents, in the order in which the manifest names them first. */
export const contentHashes = ({ entries }: Manifest): ReadonlySet<string> =>
  new Set(entries.flatMap((entry) => ('hash' in entry ? entry.hash : [])));

/** Reads a manifest line by line; throws a `Fault` that names the first entry at fault. */
export interface ManifestReader {
  add(line: string): void;
  end(): Manifest;
}

export interface ManifestLimits {
  readonly count: number;
  readonly bytes: number;
}

export function openManifest(most: ManifestLimits): ManifestReader {
  const entries: ManifestEntry[] = [];
  const folders = new Set(['']);
  const links = new Map<string, string>();
  let last = '';
  let count = 0;
  let bytes = 0;

  function checkPlace({ path }: ManifestEntry): void {
    // In strict order no path comes twice, and a folder comes before what is in it.
    if (path <= last) throw invalid(`${quoted(path)} is not in the order of paths, or comes twice.`);
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (!folders.has(parent)) throw invalid(`The folder of ${quoted(path)} is not in the manifest.`);
    last = path;
  }

  return {
    add(line) {
      const entry = entryOf(line);
      checkPlace(entry);
      entries.push(entry);
      if ('folder' in entry) folders.add(entry.path);
      else count += 1;
      if ('link' in entry) links.set(entry.path, entry.link);
      if ('bytes' in entry) bytes += entry.bytes;
      if (folders.size > most.count || count > most.count)
        throw invalid(`The folder has more than ${most.count} files.`, 'Leave files out with .musterignore.');
      if (bytes > most.bytes)
        throw invalid(`The files have more than ${most.bytes} bytes.`, 'Leave files out with .musterignore.');
    },
    end() {
      for (const [path, link] of links) {
        if (leavesFolder({ path, link }, (at) => links.get(at)))
          throw invalid(
            `The link ${quoted(path)} leads out of the folder, to ${quoted(link)}.`,
            'Leave it out with .musterignore, or replace it by what it leads to.',
          );
      }
      return { entries, count, bytes };
    },
  };
}

/** The lines of a text that comes in pieces; those without a line end at its end too. */
export async function* linesIn(content: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const piece of content) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

export async function readManifest(content: AsyncIterable<Uint8Array>, most: ManifestLimits): Promise<Manifest> {
  const reader = openManifest(most);
  try {
    for await (const line of linesIn(content)) reader.add(line);
  } catch (thrown) {
    // From the decoder.
    throw thrown instanceof TypeError ? invalid('The manifest is not UTF-8.') : thrown;
  }
  return reader.end();
}
