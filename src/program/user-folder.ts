// What commands of one user share in every folder: contexts, and where the server that this user started last keeps its data.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '#config/environment.ts';
import { DEFAULT_DATA_DIR } from '#core/defaults.ts';
import { SERVER_FILE, TOKEN_FILE } from '../cli/find.ts';

type Place = Pick<Environment, 'configHome' | 'home' | 'dataDir'>;

/** As other commands of this user keep their settings: https://specifications.freedesktop.org/basedir-spec */
const folderOf = ({ configHome, home }: Place): string => join(configHome ?? join(home ?? '/', '.config'), 'muster');

export const contextsFileIn = (place: Place): string => join(folderOf(place), 'contexts.json');

const dataDirFile = (place: Place): string => join(folderOf(place), 'data-dir');

/** Where commands keep what they can make again: the agent, packed for images. */
export const cacheFolderIn = ({ cacheHome, home }: Pick<Environment, 'cacheHome' | 'home'>): string =>
  join(cacheHome ?? join(home ?? '/', '.cache'), 'muster');

/** Writes down the data directory of the server that starts. A service may have no folder of its own: nobody needs it there. */
export function rememberDataDir(place: Place, dataDir: string): void {
  const file = dataDirFile(place);
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(folderOf(place), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${dataDir}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch {
    // Commands then look in their own folder alone.
  }
}

function remembered(place: Place): string | undefined {
  try {
    return readFileSync(dataDirFile(place), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Where commands look for a server of this machine: what is named, the folder that they are in, that of the last server. */
export function dataDirFor(place: Place): string {
  if (place.dataDir !== undefined) return place.dataDir;
  const isHere = [SERVER_FILE, TOKEN_FILE].some((name) => existsSync(join(DEFAULT_DATA_DIR, name)));
  return (isHere ? undefined : remembered(place)) ?? DEFAULT_DATA_DIR;
}
