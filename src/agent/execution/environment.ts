import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { SessionSpec } from '#core/session.ts';
import { type Account, accountVariables } from '#host/account.ts';
import { DEFAULT_PATH } from '#host/programs.ts';

export type SessionEnvironment = Readonly<Record<string, string>>;

// Variables that every shell user expects. A session gets no other variable of the agent unless it is named.
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TZ', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR'];

/** The variables that an agent passes to sessions: a few names, and those in `MUSTER_SESSION_ENV` (separated by commas). */
export function baseEnvironment(variable: (name: string) => string | undefined, pool: string): SessionEnvironment {
  const named = (variable('MUSTER_SESSION_ENV') ?? '').split(',').filter(Boolean);
  const found = [...PASSED_ON, ...named].flatMap((name) => {
    const value = variable(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(found), MUSTER_POOL: pool };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface EnvironmentParts {
  /** Default environment of every session. */
  readonly env: SessionEnvironment;
  /** Set where the session runs as another user than the agent. */
  readonly account?: Account | undefined;
  /** The folder of the session's files. */
  readonly filesFolder?: string | undefined;
}

/** Working directory and whole environment of a session; from the agent's environment only `base`. */
export function sessionEnvironment(
  session: string,
  spec: SessionSpec,
  { env: base, account, filesFolder }: EnvironmentParts,
): { readonly env: SessionEnvironment; readonly cwd: string } {
  for (const [name, value] of Object.entries(spec.env)) {
    // A POSIX shell silently drops other names.
    if (!NAME.test(name))
      throw new Fault('invalid', `"${name}" is not a valid environment variable name.`, {
        remedy: 'Use letters, digits and underscores.',
      });
    if (value.includes('\0')) throw new Fault('invalid', `The environment variable ${name} contains a zero byte.`);
  }
  const env = {
    PATH: DEFAULT_PATH,
    HOME: homedir(),
    LANG: 'C.UTF-8',
    ...base,
    ...(account && accountVariables(account)),
    ...(spec.terminal ? { TERM: spec.terminal.type || 'xterm-256color' } : {}),
    ...spec.env,
    MUSTER_SESSION: session,
  };
  return { env, cwd: startingFolder(spec.cwd, account?.home ?? env.HOME, filesFolder) };
}

/** Where a session starts that names no directory. */
export const homeFolder = ({ HOME = homedir() }: SessionEnvironment): string =>
  startingFolder(undefined, HOME, undefined);

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** A relative one is inside the folder of the session's files; the agent's own folder is no place for sessions. */
function startingFolder(asked: string | undefined, home: string, files: string | undefined): string {
  if (asked === undefined || asked === '') return files ?? (isFolder(home) ? home : '/');
  if (files === undefined && !isAbsolute(asked))
    throw new Fault('invalid', `The working directory ${asked} is relative, and the session has no files.`, {
      remedy: 'Send the folder along with `--sync`, or give an absolute path of the worker.',
    });
  const wanted = files === undefined ? asked : resolve(files, asked);
  if (!isFolder(wanted))
    throw new Fault('missing', `The working directory ${asked} does not exist on this worker.`, {
      remedy: 'Create it there, or leave the working directory out.',
    });
  return wanted;
}
