// A folder with everything that `--sync` can send, and a list of what a session finds of it.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Images have Node and busybox, whose `find` prints no modes.
const SCRIPT = `
const { createHash } = require('node:crypto');
const { lstatSync, readdirSync, readFileSync, readlinkSync } = require('node:fs');
const paths = readdirSync('.', { recursive: true }).sort();
for (const path of paths) {
  const stats = lstatSync(path);
  const mode = stats.isSymbolicLink() ? readlinkSync(path) : (stats.mode & 0o7777).toString(8);
  const sum = stats.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
  console.log(JSON.stringify([path, mode, sum]));
}
`;

/** The command that lists the folder it runs in: names, modes or targets, sums. */
export const LIST = ['node', '-e', SCRIPT] as const;

/** Makes the folder; answers its list. What lies beside it must not be sent. */
export function makeProject(path: string): string {
  mkdirSync(join(path, 'src/empty'), { recursive: true });
  writeFileSync(join(path, '../beside'), 'not sent');
  for (const [name, text, mode] of [
    ['src/main.sh', 'echo it runs', 0o755],
    ['secret', 'mine alone', 0o600],
    ['large', 'x'.repeat(3_000_000), 0o640],
    ['name with spaces and ünïcödé', 'odd', 0o444],
    ['nothing', '', 0o644],
  ] as const) {
    writeFileSync(join(path, name), text);
    chmodSync(join(path, name), mode);
  }
  symlinkSync('src/main.sh', join(path, 'link'));
  symlinkSync('../secret', join(path, 'src/up'));
  chmodSync(join(path, 'src/empty'), 0o555);
  return execFileSync(process.execPath, LIST.slice(1), { cwd: path, encoding: 'utf8' });
}

/** Adds what is refused: a link to what lies beside the folder. */
export const addLeavingLink = (path: string): void => symlinkSync('../beside', join(path, 'out'));
