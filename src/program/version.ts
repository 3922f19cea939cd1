import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly version: string;
  /** What is never published: a checkout. */
  readonly private?: boolean;
  /** Only a package that was made from a commit has it. */
  readonly commit?: string;
}

const manifest = (): Manifest =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;

/** The version of this program, as its package says. */
export const readVersion = (): string => manifest().version;

/** Whether this program runs from its sources, where the command is `npx muster`. */
export const isCheckout = (): boolean => manifest().private === true;

const GIT_WITHIN_MS = 2_000;

/** The commit that this program was made of: of its package, or of the checkout where git can tell. */
export function readCommit(): string | undefined {
  const { commit } = manifest();
  if (commit !== undefined) return commit;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  try {
    const words = ['-C', root, 'rev-parse', '--short=12', 'HEAD'];
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', words, { encoding: 'utf8', stdio, timeout: GIT_WITHIN_MS }).trim();
  } catch {
    return undefined;
  }
}

const ASKS_VERSION = new Set(['-V', '--version', 'version']);

/** The version with its commit, where the words of a command line ask for it: git need not run for any other. */
export function versionFor(words: readonly string[]): string {
  const commit = words.some((word) => ASKS_VERSION.has(word)) ? readCommit() : undefined;
  return commit === undefined ? readVersion() : `${readVersion()} (${commit})`;
}
