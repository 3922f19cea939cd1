import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoted } from '#core/shell-text.ts';
import { DEFAULT_PATH, type FindProgram, findProgram } from '#host/programs.ts';

const PROGRAM = fileURLToPath(new URL('./curl.mjs', import.meta.url));

/** Boot scripts need curl, as images of real clouds have it: puts a stand-in there where this computer has none. */
export function placeCurl(bin: string, find: FindProgram = findProgram): void {
  if (find('curl', DEFAULT_PATH)) return;
  const script = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(PROGRAM)} "$@"\n`;
  writeFileSync(join(bin, 'curl'), script, { mode: 0o755 });
}
