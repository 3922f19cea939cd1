// What `--sync` sends of a folder: all but `.git` and what .gitignore and .musterignore name.
import { createHash, hash } from 'node:crypto';
import { createReadStream, existsSync, type Stats } from 'node:fs';
import { lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { Fault } from '#core/fault.ts';
import { inManifestOrder, leavesFolder, type ManifestEntry, manifestLine } from '#core/file-manifest.ts';
import { inTurns } from './in-turns.ts';

/** A file to send, and the name under which it is found here. */
export interface LocalFile {
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

export interface LocalManifest {
  readonly text: string;
  readonly hash: string;
  /** One for each different content. */
  readonly contents: readonly LocalFile[];
}

/** What a folder holds, before any of it is read. */
export interface FoundEntries {
  readonly folder: string;
  readonly folders: readonly { readonly path: string; readonly mode: number }[];
  readonly files: readonly { readonly path: string; readonly mode: number; readonly bytes: number }[];
  readonly links: readonly { readonly path: string; readonly link: string }[];
  /** Devices, pipes and sockets: they cannot be sent. */
  readonly others: readonly string[];
}

export interface SyncLimits {
  readonly bytes: number;
  readonly files: number;
}

const IGNORE_FILES = ['.gitignore', '.musterignore'];
const NEVER_SENT = '.git';
const READ_AT_ONCE = 16;
const SMALL_BYTES = 1024 * 1024;
const LARGEST_SHOWN = 5;

/** The rules of one folder, which hold for what is below it. */
interface Rules {
  readonly base: string;
  readonly rules: Ignore;
}

async function rulesOf(folder: string): Promise<Rules | undefined> {
  const texts = await Promise.all(
    IGNORE_FILES.map((name) => readFile(join(folder, name), 'utf8').catch(() => undefined)),
  );
  const given = texts.filter((text) => text !== undefined);
  return given.length === 0 ? undefined : { base: folder, rules: ignore().add(given.join('\n')) };
}

/** Those of the folders above, up to the root of its repository, the outermost first. */
async function rulesAbove(folder: string): Promise<readonly Rules[]> {
  const above: string[] = [];
  for (let at = folder; !existsSync(join(at, NEVER_SENT)); at = dirname(at)) {
    if (dirname(at) === at) return [];
    above.unshift(dirname(at));
  }
  return (await Promise.all(above.map(rulesOf))).filter((rules) => rules !== undefined);
}

/** The innermost folder that says something about a path decides. */
function isIgnored(path: string, isFolder: boolean, all: readonly Rules[]): boolean {
  let isOut = false;
  for (const { base, rules } of all) {
    const { ignored, unignored } = rules.test(`${relative(base, path)}${isFolder ? '/' : ''}`);
    if (ignored || unignored) isOut = ignored;
  }
  return isOut;
}

const modeOf = ({ mode }: Stats): number => mode & 0o777;

function checkName(path: string): void {
  if (!path.includes('\ufffd')) return;
  throw new Fault('invalid', `The name ${path} is not UTF-8.`, {
    remedy: 'Rename it, or leave it out with .musterignore.',
  });
}

/** Finds what is to be sent, without reading any file. Links are never followed. */
export async function findEntries(folder: string): Promise<FoundEntries> {
  const root = await realpath(folder).catch((cause) => {
    throw new Fault('invalid', `There is no folder ${folder}.`, {
      cause,
      remedy: 'Name a folder after --sync, and write the command after --.',
    });
  });
  if (!(await lstat(root)).isDirectory())
    throw new Fault('invalid', `${folder} is not a folder.`, { remedy: 'Write the command after --.' });
  const found = {
    folder: root,
    folders: [] as { path: string; mode: number }[],
    files: [] as { path: string; mode: number; bytes: number }[],
    links: [] as { path: string; link: string }[],
    others: [] as string[],
  };

  async function look(absolute: string, above: readonly Rules[]): Promise<void> {
    const own = await rulesOf(absolute);
    const rules = own ? [...above, own] : above;
    const entries = await readdir(absolute, { withFileTypes: true });
    await inTurns(entries, READ_AT_ONCE, async (entry) => {
      const path = join(absolute, entry.name);
      if (entry.name === NEVER_SENT || isIgnored(path, entry.isDirectory(), rules)) return;
      await take(path, rules);
    });
  }

  async function take(absolute: string, rules: readonly Rules[]): Promise<void> {
    const path = relative(root, absolute);
    checkName(path);
    const stats = await lstat(absolute);
    if (stats.isDirectory()) {
      found.folders.push({ path, mode: modeOf(stats) });
      await look(absolute, rules);
    } else if (stats.isFile()) found.files.push({ path, mode: modeOf(stats), bytes: stats.size });
    else if (stats.isSymbolicLink()) found.links.push({ path, link: await readlink(absolute) });
    else found.others.push(path);
  }

  await look(root, await rulesAbove(root));
  checkLinks(found.links);
  return found;
}

function checkLinks(links: FoundEntries['links']): void {
  const targets = new Map(links.map(({ path, link }) => [path, link]));
  const leaving = links.find((link) => leavesFolder(link, (path) => targets.get(path)));
  if (!leaving) return;
  throw new Fault('invalid', `The link ${leaving.path} leads out of the folder, to ${leaving.link}.`, {
    remedy: 'Leave it out with .musterignore, or replace it by what it leads to.',
  });
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

export function shownBytes(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${(bytes / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${UNITS[unit]}`;
}

/** Throws where it is too much, with the entries of the folder that weigh most. */
export function checkSize({ folder, files, links }: FoundEntries, most: SyncLimits): void {
  const count = files.length + links.length;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (count <= most.files && bytes <= most.bytes) return;
  const entries = new Map<string, { bytes: number; files: number }>();
  for (const { path, bytes } of files) {
    const name = path.includes('/') ? `${path.slice(0, path.indexOf('/'))}/` : path;
    const sum = entries.get(name) ?? { bytes: 0, files: 0 };
    entries.set(name, { bytes: sum.bytes + bytes, files: sum.files + 1 });
  }
  const by = bytes > most.bytes ? 'bytes' : 'files';
  const largest = [...entries].sort(([, a], [, b]) => b[by] - a[by]).slice(0, LARGEST_SHOWN);
  const lines = largest.map(
    ([name, sum]) => `  ${name}: ${shownBytes(sum.bytes)} in ${sum.files} ${sum.files === 1 ? 'file' : 'files'}`,
  );
  throw new Fault(
    'invalid',
    `${folder} has ${count} files with ${shownBytes(bytes)}; at most ${most.files} files with ${shownBytes(most.bytes)} can be sent. The largest entries:\n${lines.join('\n')}`,
    { remedy: 'Leave files out with .musterignore, or let an operator raise `files` of the server.' },
  );
}

async function hashOf(path: string, bytes: number): Promise<string> {
  if (bytes <= SMALL_BYTES) return hash('sha256', await readFile(path), 'hex');
  const sum = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: SMALL_BYTES })) sum.update(piece as Buffer);
  return sum.digest('hex');
}

/** Reads every file once. One that changes meanwhile is refused by the server, since its bytes then have another hash. */
export async function readEntries(found: FoundEntries): Promise<LocalManifest> {
  const files = await inTurns(found.files, READ_AT_ONCE, async (file) => ({
    ...file,
    hash: await hashOf(join(found.folder, file.path), file.bytes),
  }));
  const entries: ManifestEntry[] = [
    ...found.folders.map(({ path, mode }) => ({ path, folder: true as const, mode })),
    ...files.map(({ path, hash, bytes, mode }) => ({ path, hash, bytes, mode })),
    ...found.links,
  ];
  const text = entries.sort(inManifestOrder).map(manifestLine).join('');
  // The hashes come in any order.
  const contents = [...new Map(files.toSorted(inManifestOrder).map((file) => [file.hash, file])).values()];
  return { text, hash: hash('sha256', text, 'hex'), contents };
}
