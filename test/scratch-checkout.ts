// A copy of this tree, for tests that add a folder to the project and look at what else changes.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { Fault } from '#core/fault.ts';
import { type Ran, run } from './real/parts/run.ts';

const ROOT = join(import.meta.dirname, '..');
/** What git ignores; `node_modules` becomes a link. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'data', 'dist', '.vite', 'coverage', '.cache']);

export interface ScratchCheckout {
  readonly root: string;
  /** Adds one file; refuses where one is already there. */
  add(path: string, text: string): void;
  /** Adds every file of a folder of the checkout at another place, each with its text edited. */
  copyFolder(from: string, to: string, edit?: (text: string) => string): void;
  read(path: string): string;
  /** Files of the start that differ now, and those that are gone. */
  changed(): string[];
  /** Files that were not there at the start. */
  added(): string[];
  /** Runs a program of `node_modules/.bin` in the checkout: `node`, `tsc`, `vitest`. */
  run(program: string, words?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  remove(): void;
}

/** All files below a folder, as paths from there. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name) || entry.isSymbolicLink()) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path).map((below) => join(entry.name, below)) : [entry.name];
  });
}

/** Copies, never links: what is generated there must not be written into this tree. */
export function openScratchCheckout(): ScratchCheckout {
  const folder = mkdtempSync(join(tmpdir(), 'muster-checkout-'));
  const root = join(folder, 'tree');
  // What programs write there is no part of the tree.
  const home = join(folder, 'home');
  mkdirSync(home);
  const paths = new Set(filesBelow(ROOT));
  for (const path of paths) cpSync(join(ROOT, path), join(root, path));
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const slashed = (path: string): string => path.split(sep).join('/');
  const isAsBefore = (path: string): boolean =>
    existsSync(join(root, path)) && readFileSync(join(root, path)).equals(readFileSync(join(ROOT, path)));

  function add(path: string, text: string): void {
    const to = join(root, path);
    if (existsSync(to)) throw new Fault('conflict', `${path} is already in the checkout.`);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, text);
  }

  return {
    root,
    add,
    copyFolder(from, to, edit = (text) => text) {
      for (const path of filesBelow(join(root, from))) {
        add(join(to, path), edit(readFileSync(join(root, from, path), 'utf8')));
      }
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    changed: () =>
      [...paths]
        .filter((path) => !isAsBefore(path))
        .map(slashed)
        .toSorted(),
    added: () =>
      filesBelow(root)
        .filter((path) => !paths.has(path))
        .map(slashed)
        .toSorted(),
    run: (program, words = [], env = {}) =>
      // Where the system's Node is new enough, the packages bring none.
      run(program === 'node' ? process.execPath : join(root, 'node_modules/.bin', program), words, {
        cwd: root,
        env: {
          PATH: `${join(root, 'node_modules/.bin')}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
          HOME: home,
          // No other program will ever find these files by their paths.
          NODE_COMPILE_CACHE: join(folder, 'compiled'),
          ...env,
        },
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
