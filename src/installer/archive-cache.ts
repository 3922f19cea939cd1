// Packing the runtime takes seconds: an archive that was packed before is offered again while what is in it is the same.
// Older ones stay for a while, since machines that boot while the server is upgraded ask for what they were promised.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stampOf } from './version-stamp.ts';

export interface Packed {
  /** Its content makes it: `muster-agent-linux-x64-0123456789ab.tar.gz`. */
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
}

interface Note extends Packed {
  readonly stamps: readonly string[];
}

const KEPT = 3;

const NOTE = '.json';

export const archiveName = (platform: string, sha256: string): string =>
  `muster-agent-${platform}-${sha256.slice(0, 12)}.tar.gz`;

function stampsOf(folder: string, name: string, ingredients: readonly string[]): string[] {
  return [join(folder, name), ...ingredients].map(stampOf);
}

function noteIn(folder: string, file: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8')) as Note;
  } catch {
    return undefined;
  }
}

/** The archives of one folder. */
export interface ArchiveCache {
  /** The archive for that platform, if it is there, whole, and would come out the same now. */
  current(platform: string, ingredients: readonly string[]): Packed | undefined;
  /** One of that name, also of an earlier version; names are looked up in the folder's own list, never joined to a path. */
  find(name: string): Packed | undefined;
  /** Writes down what an archive was packed from, and drops all but the newest few of its platform. */
  keep(platform: string, packed: Packed, ingredients: readonly string[]): void;
}

export function openArchiveCache(folder: string): ArchiveCache {
  const notesOf = (platform: string): Note[] =>
    readdirSync(folder)
      .filter((file) => file.startsWith(archiveName(platform, '').replace('.tar.gz', '')) && file.endsWith(NOTE))
      .flatMap((file) => noteIn(folder, file) ?? []);

  return {
    current(platform, ingredients) {
      const isSame = ({ name, stamps }: Note): boolean =>
        stampsOf(folder, name, ingredients).every((stamp, at) => stamp === stamps[at]);
      const { name, sha256, bytes } = notesOf(platform).find(isSame) ?? {};
      return name === undefined || sha256 === undefined || bytes === undefined ? undefined : { name, sha256, bytes };
    },
    find(name) {
      const files = new Set(readdirSync(folder));
      const note = files.has(name) && files.has(`${name}${NOTE}`) ? noteIn(folder, `${name}${NOTE}`) : undefined;
      return note && { name, sha256: note.sha256, bytes: note.bytes };
    },
    keep(platform, packed, ingredients) {
      const note: Note = { ...packed, stamps: stampsOf(folder, packed.name, ingredients) };
      writeFileSync(join(folder, `${packed.name}${NOTE}`), JSON.stringify(note));
      const ageOf = ({ name }: Note): number => statSync(join(folder, `${name}${NOTE}`)).ctimeMs;
      const old = notesOf(platform)
        .filter(({ name }) => name !== packed.name)
        .sort((a, b) => ageOf(b) - ageOf(a))
        .slice(KEPT - 1);
      for (const { name } of old)
        for (const file of [name, `${name}${NOTE}`]) rmSync(join(folder, file), { force: true });
    },
  };
}
