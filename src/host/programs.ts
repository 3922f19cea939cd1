import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** The default PATH of sessions. */
export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export type FindProgram = (name: string, path: string, cwd?: string) => string | undefined;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The file that a shell would run under that name, looking along `path` from within `cwd`. */
export function findProgram(name: string, path: string, cwd = '/'): string | undefined {
  if (name.includes('/')) {
    const file = isAbsolute(name) ? name : resolve(cwd, name);
    return isProgram(file) ? file : undefined;
  }
  const places = path.split(delimiter).map((folder) => join(resolve(cwd, folder || '.'), name));
  return places.find(isProgram);
}
