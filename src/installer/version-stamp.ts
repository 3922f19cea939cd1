import { statSync } from 'node:fs';

/** Changes whenever the file is written; the time of change itself does not, where a package manager sets it. */
export function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${file} ${stat.size} ${stat.ctimeMs}` : `${file} none`;
}
