// Bundling takes a process, half a second and tens of megabytes: what was made before is used again while nothing it was
// made from has changed.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bundle } from './bundle.ts';
import { stampOf } from './version-stamp.ts';

/** All that the content of a bundle depends on. */
export interface Ingredients {
  readonly version: string;
  /** Absolute paths of everything that went in. */
  readonly files: readonly string[];
}

interface Note extends Bundle {
  readonly version: string;
  readonly stamps: readonly (readonly [file: string, stamp: string])[];
}

const noteIn = (folder: string): string => join(folder, 'made.json');

function readNote(folder: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(noteIn(folder), 'utf8')) as Note;
  } catch {
    return undefined;
  }
}

function isWhole({ path, sha256 }: Bundle): boolean {
  try {
    return hash('sha256', readFileSync(path)) === sha256;
  } catch {
    return false;
  }
}

/** The bundle of that version and program, if it is there and would come out the same now. */
export function findMade(folder: string, version: string, entry: string): Bundle | undefined {
  const note = readNote(folder);
  // Another folder may hold another program of the same version.
  if (note?.version !== version || !note.stamps.some(([file]) => file === entry)) return undefined;
  if (!note.stamps.every(([file, stamp]) => stampOf(file) === stamp)) return undefined;
  const { path, sha256 } = note;
  return isWhole({ path, sha256 }) ? { path, sha256 } : undefined;
}

/** Writes down what a bundle was made from. */
export async function noteMade(folder: string, bundle: Bundle, { version, files }: Ingredients): Promise<void> {
  const note: Note = { ...bundle, version, stamps: files.map((file) => [file, stampOf(file)]) };
  const draft = `${noteIn(folder)}.${process.pid}`;
  await writeFile(draft, JSON.stringify(note));
  await rename(draft, noteIn(folder));
}
