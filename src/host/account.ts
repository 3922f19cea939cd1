// The account that a program runs under, where it is not our own.
import { execFile } from 'node:child_process';
import { Fault } from '#core/fault.ts';
import type { RunAs } from '#core/session.ts';
import { DEFAULT_PATH, type FindProgram } from './programs.ts';

/** An account as the machine knows it. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** Undefined where the machine's own list of groups applies. */
  readonly groups?: readonly number[] | undefined;
  readonly name?: string | undefined;
  readonly home: string;
  readonly shell?: string | undefined;
}

/** The line of that user in the machine's list of users; undefined if there is none. */
export type LookUp = (nameOrNumber: string) => Promise<string | undefined>;

// A directory service may be slow, or be away.
const LOOK_UP_MS = 10_000;
const ROOT = 'root:x:0:0:root:/:/bin/sh';

export const lookUpUser: LookUp = (nameOrNumber) =>
  new Promise((resolve) => {
    execFile('getent', ['passwd', '--', nameOrNumber], { timeout: LOOK_UP_MS }, (error, stdout) =>
      resolve(error ? undefined : (stdout.split('\n')[0] ?? '')),
    );
  });

function parsed(line: string): Account {
  const [name = '', , uid = '', gid = '', , home = '', shell = ''] = line.split(':');
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/', shell: shell || undefined };
}

/** The account that is asked for, or a `Fault`: nothing ever runs under another account. */
export async function findAccount(runAs: RunAs, lookUp: LookUp = lookUpUser): Promise<Account> {
  if ('user' in runAs) {
    const line = await lookUp(runAs.user);
    // `getent` also finds a number; a user is meant by its name here.
    const isFound = line?.startsWith(`${runAs.user}:`) === true;
    if (line && isFound) return parsed(line);
    if (runAs.user === 'root') return parsed(ROOT);
    throw new Fault('missing', `There is no user ${runAs.user} on this machine.`, {
      remedy: 'Create the user there, or name another one.',
    });
  }
  const line = await lookUp(String(runAs.uid));
  const known = line ? parsed(line) : undefined;
  return { ...known, home: known?.home ?? '/', uid: runAs.uid, gid: runAs.gid, groups: runAs.groups };
}

/** The variables that a login of that account would set. */
export function accountVariables({ name, home, shell }: Account): Readonly<Record<string, string>> {
  return {
    HOME: home,
    ...(name !== undefined && { USER: name, LOGNAME: name }),
    ...(shell !== undefined && { SHELL: shell }),
  };
}

/** The same command under that account; `setpriv` becomes it, so that no process stands between. */
export function commandAs(account: Account, command: readonly string[], find: FindProgram): readonly string[] {
  const { uid, gid, groups } = account;
  const own = process.getuid?.();
  if (own === uid && groups === undefined) return command;
  const setpriv = find('setpriv', DEFAULT_PATH);
  if (!setpriv)
    throw new Fault('unsupported', 'This machine cannot run a program as another user: `setpriv` is not installed.', {
      remedy: 'Install it (package util-linux).',
    });
  if (own !== 0)
    throw new Fault('unsupported', 'Only root can run a program as another user; this process does not run as root.', {
      remedy: 'Start it as root, or leave the user out.',
    });
  const which =
    groups === undefined ? ['--init-groups'] : groups.length > 0 ? ['--groups', groups.join(',')] : ['--clear-groups'];
  return [setpriv, '--reuid', `${uid}`, '--regid', `${gid}`, ...which, '--', ...command];
}
