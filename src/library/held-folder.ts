// One process at a time uses the folder of a computer; it says who it is.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';

/** A folder that no other process can use until it is let go, or until this process ends in any way. */
export interface HeldFolder {
  release(): void;
}

/** Who has the lock; a file, because the lock itself does not tell. */
interface FolderHolder {
  readonly pid: number;
  readonly program: string;
  readonly since: string;
}

const holderFile = (folder: string): string => join(folder, 'holder.json');

function readHolder(folder: string): string {
  try {
    const { pid, program, since } = JSON.parse(readFileSync(holderFile(folder), 'utf8')) as FolderHolder;
    const who = pid === process.pid ? 'another object of this process' : `process ${pid} (${program})`;
    return `${who} holds it since ${since}`;
  } catch {
    return 'another process holds it';
  }
}

/** Locks a folder for this process; a `Fault` names who has it. */
export async function holdFolder(folder: string, now: number): Promise<HeldFolder> {
  // Loaded when it is needed: a program that only extends the base class needs no SQLite.
  const { lockDirectory, makeDirectory } = await import('#store/sqlite/directory.ts');
  makeDirectory(folder);
  let release: () => void;
  try {
    release = lockDirectory(folder);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'conflict') throw fault;
    throw new Fault('conflict', `The computer of ${folder} is in use: ${readHolder(folder)}.`, {
      at: folder,
      remedy: 'Wait until that one ends or tears it down, or give another `name`.',
    });
  }
  const holder: FolderHolder = {
    pid: process.pid,
    program: process.argv.slice(1, 2).join(' ') || process.title,
    since: new Date(now).toISOString(),
  };
  writeFileSync(holderFile(folder), JSON.stringify(holder), { mode: 0o600 });
  return { release };
}

const STORE = 'store';

/** Where the rows of the computer are: apart from the lock, which outlasts each opening of them. */
export const storeFolder = (folder: string): string => join(folder, STORE);

export const isUsedFolder = (folder: string): boolean => existsSync(storeFolder(folder));
