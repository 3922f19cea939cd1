import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Fault } from '#core/fault.ts';
import { codeOf, fileFault } from './file-fault.ts';

/** A file that should hold a document, or why it cannot. */
export interface Found {
  /** The path below the root, with slashes. */
  readonly key: string;
  readonly path: string;
  readonly fault?: Fault | undefined;
}

export interface FindOptions {
  /** Whether links may lead out of the root: not where others than the operator write there. */
  readonly mayLeave: boolean;
  readonly signal: AbortSignal;
}

interface Folder {
  readonly key: string;
  readonly path: string;
}

// A limit, so that / as the directory is reported as a mistake.
const MOST_ENTRIES = 200_000;

const isDocumentName = (name: string): boolean => /\.(ya?ml|json)$/i.test(name);
/** Hidden files, and what editors leave beside the file they write. */
const isIgnored = (name: string): boolean => /^[.~#]|~$/.test(name);

/**
 * All documents below a root, or throws: a folder that cannot be read would look like one whose pools were removed.
 * A folder is read once, however many links lead to it, and under its own path where it has one below the root.
 */
export async function findFiles(root: string, { mayLeave, signal }: FindOptions): Promise<readonly Found[]> {
  const found: Found[] = [];
  const folders: Folder[] = [{ key: '', path: root }];
  const links: Folder[] = [];
  const visited = new Set<string>();
  const home = await realpath(root).catch((thrown) => Promise.reject(fileFault(root, thrown)));
  let entries = 0;

  async function takeLink(at: Folder): Promise<void> {
    const target = await stat(at.path).catch(codeOf);
    const isFolder = typeof target !== 'string' && target.isDirectory();
    if (!isFolder && !isDocumentName(at.key)) return;
    const real = await realpath(at.path).catch(() => at.path);
    const isInside = real === home || real.startsWith(home + sep);
    if (typeof target !== 'string' && !mayLeave && !isInside) found.push({ ...at, fault: leadsOut(at.path) });
    else if (isFolder) links.push(at);
    else found.push(at);
  }

  async function takeEntry(folder: Folder, entry: Dirent): Promise<void> {
    const at = { key: folder.key ? `${folder.key}/${entry.name}` : entry.name, path: join(folder.path, entry.name) };
    if (isIgnored(entry.name)) return;
    if (entry.isDirectory()) folders.push(at);
    else if (entry.isSymbolicLink()) await takeLink(at);
    else if (isDocumentName(entry.name)) found.push(at);
  }

  for (let folder = folders.shift(); folder; folder = folders.shift() ?? links.shift()) {
    if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
    const list = await readFolder(folder, visited);
    entries += list.length;
    if (entries > MOST_ENTRIES) throw tooMany(root);
    for (const entry of list) await takeEntry(folder, entry);
  }
  return found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

async function readFolder({ key, path }: Folder, visited: Set<string>): Promise<readonly Dirent[]> {
  try {
    const real = await realpath(path);
    if (visited.has(real)) return [];
    visited.add(real);
    const list = await readdir(path, { withFileTypes: true });
    return list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (thrown) {
    // A folder below the root that was there a moment ago was removed meanwhile.
    if (key !== '' && codeOf(thrown) === 'ENOENT') return [];
    throw fileFault(path, thrown);
  }
}

function leadsOut(path: string): Fault {
  return new Fault('denied', `${path} is a link that leads out of the directory.`, {
    remedy: 'Put the file itself there, add its directory as another source, or set trusted: true.',
  });
}

function tooMany(root: string): Fault {
  return new Fault('invalid', `${root} contains more than ${MOST_ENTRIES} files.`, {
    remedy: 'Use a directory that contains only pool documents.',
  });
}
