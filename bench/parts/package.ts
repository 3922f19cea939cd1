import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MAKER = fileURLToPath(new URL('../../scripts/image-root.ts', import.meta.url));

/** What users install, in a folder. */
export interface MadePackage {
  /** The command. */
  readonly command: string;
  /** What the command runs. */
  readonly entry: string;
}

export async function makePackage(folder: string): Promise<MadePackage> {
  await promisify(execFile)(process.execPath, [MAKER, 'server', folder]);
  return { command: join(folder, 'bin/muster'), entry: join(folder, 'dist/server/launcher.mjs') };
}
