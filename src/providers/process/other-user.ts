// Agents that run as another user than the server. That user reaches what it runs and its own files, and nothing of the
// server's. What lies in its folders is its own to change: the server reads it with care, and writes there as that user.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, createReadStream, lstatSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { type Account, commandAs, findAccount } from '#host/account.ts';
import { writeDurably } from '#host/durable-file.ts';
import { findProgram } from '#host/programs.ts';
import type { ProcessConfig } from './config.ts';

// No machine has such a name.
const PROGRAMS = '.programs';
const ANSWER_WITHIN_MS = 60_000;

/** The account that agents of this configuration run under; undefined: the server's own. */
export async function accountOf({ user }: Pick<ProcessConfig, 'user'>): Promise<Account | undefined> {
  if (user === undefined) return undefined;
  const own = process.getuid?.();
  const account = await findAccount({ user });
  if (account.uid === own) return undefined;
  if (own === 0) return account;
  throw new Fault('unsupported', `Agents cannot run as ${user}: the server does not run as root.`, {
    at: 'user',
    remedy: 'Start the server as root, or leave `user` out.',
  });
}

/** Runs a command as that user; false where it fails. */
function runAs(account: Account, command: readonly string[]): Promise<boolean> {
  const [program = '', ...words] = commandAs(account, command, findProgram);
  return new Promise((resolve) => {
    execFile(program, words, { cwd: '/', env: {}, timeout: ANSWER_WITHIN_MS }, (error) => resolve(!error));
  });
}

const canUse = (account: Account, path: string, right: '-r' | '-x'): Promise<boolean> =>
  runAs(account, ['/bin/sh', '-c', 'test "$1" "$2"', 'sh', right, path]);

/** Makes the folder that holds those of the agents; others than root could put links of their own into its way. */
function openShared(path: string): void {
  if (mkdirSync(path, { recursive: true }) !== undefined) chmodSync(path, 0o755);
  const { uid, mode } = lstatSync(path);
  if (uid === 0 && (mode & 0o022) === 0) return;
  throw new Fault('denied', `Others than root can change ${path}, so no agent with \`user\` can be kept there.`, {
    at: 'work_dir',
    remedy: `Name another directory, or run: chown root ${path} && chmod go-w ${path}`,
  });
}

/** Puts the file of an agent into a folder that only its user may enter. Whole before that user can change it. */
export async function openHome(
  account: Account,
  path: string,
  { text, nonce }: { readonly text: string; readonly nonce: string },
): Promise<void> {
  openShared(dirname(path));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (statSync(path).uid === account.uid) return;
  const file = configIn(path);
  await writeDurably(file, text, `${file}.${nonce}`);
  chownSync(file, account.uid, account.gid);
  chownSync(path, account.uid, account.gid);
}

export const configIn = (home: string): string => join(home, 'agent.yaml');

async function shortHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex').slice(0, 12);
}

/** A copy that every user can read and run, made once for each content. */
async function shareCopy(path: string, shared: string, nonce: string): Promise<string> {
  const folder = join(shared, PROGRAMS);
  openShared(folder);
  const copy = join(folder, `${await shortHash(path)}-${basename(path)}`);
  if (statSync(copy, { throwIfNoEntry: false })) return copy;
  const draft = `${copy}.${nonce}`;
  await copyFile(path, draft);
  chmodSync(draft, 0o755);
  await rename(draft, copy);
  return copy;
}

/** The same command, from copies where that user cannot read a file of it: our own often lie in the home of root. */
export async function commandFor(
  account: Account,
  command: readonly string[],
  { shared, nonce }: { readonly shared: string; readonly nonce: string },
): Promise<readonly string[]> {
  const words: string[] = [];
  for (const [at, word] of command.entries()) {
    const isFile = isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isFile() === true;
    const right = at === 0 ? '-x' : '-r';
    if (!isFile || (await canUse(account, word, right))) words.push(word);
    else {
      const copy = await shareCopy(word, shared, nonce);
      if (!(await canUse(account, copy, right)))
        throw new Fault('denied', `The user ${account.name} cannot reach ${shared}.`, {
          at: 'work_dir',
          remedy: 'Let this user enter every directory on the way there, or name another one.',
        });
      words.push(copy);
    }
  }
  return words;
}

/** Writes a line as that user where there is no such file; throws where there is. */
export async function writeFirstAs(account: Account, path: string, line: string): Promise<void> {
  const isWritten = await runAs(account, ['/bin/sh', '-c', 'set -C; echo "$2" >"$1"', 'sh', path, line]);
  if (!isWritten) throw new Fault('conflict', `${path} cannot be written, or is there already.`);
}

/** Removes the folder of an agent, as its user: a link in it leads no further than that user may go. */
export async function removeHome(account: Account, path: string): Promise<boolean> {
  // It cannot remove the folder itself, which lies in one of root's.
  await runAs(account, ['/bin/rm', '-rf', '--', path]);
  try {
    rmdirSync(path);
    return true;
  } catch {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  }
}
