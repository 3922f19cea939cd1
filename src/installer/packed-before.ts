// Packing the runtime takes seconds: an archive that was packed before is offered again while what is in it is the same.
import { readFileSync, statSync, writeFileSync } from 'node:fs';

export interface Packed {
  readonly sha256: string;
  readonly bytes: number;
}

interface Note extends Packed {
  readonly stamps: readonly string[];
}

const noteOf = (archive: string): string => `${archive}.json`;

/** Changes whenever the file is written. */
function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${file} ${stat.size} ${stat.ctimeMs}` : `${file} none`;
}

/** The archive as it was packed, if it is there, whole, and would come out the same now. */
export function findPacked(archive: string, ingredients: readonly string[]): Packed | undefined {
  try {
    const { sha256, bytes, stamps } = JSON.parse(readFileSync(noteOf(archive), 'utf8')) as Note;
    const isSame = [archive, ...ingredients].every((file, at) => stampOf(file) === stamps[at]);
    return isSame ? { sha256, bytes } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes down what an archive was packed from. */
export function notePacked(archive: string, { sha256, bytes }: Packed, ingredients: readonly string[]): void {
  const note: Note = { sha256, bytes, stamps: [archive, ...ingredients].map(stampOf) };
  writeFileSync(noteOf(archive), JSON.stringify(note));
}
