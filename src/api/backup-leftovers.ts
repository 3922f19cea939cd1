// A backup that is cut short by the end of the process must not leave a copy of all secrets behind.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Every backup under way has a folder of this name in the data directory. */
export const BACKUP_PREFIX = 'backup-';
const NOTE = 'writes';

/** Notes which file a backup writes elsewhere, until it is done. */
export async function noteBackup(dataDir: string, file: string): Promise<{ drop(): Promise<void> }> {
  const folder = await mkdtemp(join(dataDir, BACKUP_PREFIX));
  await writeFile(join(folder, NOTE), file, { mode: 0o600 });
  return { drop: () => rm(folder, { recursive: true, force: true }) };
}

/** Removes what backups of a server that was killed have left; answers how many there were. */
export function removeBackupLeftovers(dataDir: string): number {
  const folders = readdirSync(dataDir).filter((name) => name.startsWith(BACKUP_PREFIX));
  for (const name of folders) {
    const note = join(dataDir, name, NOTE);
    const file = existsSync(note) ? readFileSync(note, 'utf8') : undefined;
    // The store writes beside it before it gets that name.
    if (file?.endsWith('.part')) for (const left of [file, `${file}.partial`]) rmSync(left, { force: true });
    rmSync(join(dataDir, name), { recursive: true, force: true });
  }
  return folders.length;
}
