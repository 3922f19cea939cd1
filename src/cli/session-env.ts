// The variables of a session. Values that come from this command's environment or from a file appear in no process list.
import { readFileSync } from 'node:fs';
import { Fault } from '#core/fault.ts';
import type { Cli } from './command.ts';

export interface EnvOptions {
  /** As given: `NAME=VALUE`, or `NAME` alone. */
  readonly env?: readonly string[];
  readonly envFile?: readonly string[];
}

/** For an option that may be repeated; each value is kept as it was written. */
export const repeated = (text: string, before: readonly string[] = []): string[] => [...before, text];

type Variable = Cli['variable'];

function entryOf(text: string, variable: Variable, where: string): [name: string, value: string] {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  if (name === '')
    throw new Fault('invalid', `${where}: the variable has no name.`, {
      remedy: 'Write NAME=VALUE, or NAME to take its value from the environment of this command.',
    });
  if (at >= 0) return [name, text.slice(at + 1)];
  const value = variable(name);
  if (value !== undefined) return [name, value];
  throw new Fault('invalid', `${where}: the variable ${name} is not set here.`, {
    remedy: `Set it in the environment of this command, or write ${name}=VALUE.`,
  });
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    const { message } = thrown as Error;
    throw new Fault('invalid', `--env-file ${path} cannot be read: ${message}.`, {
      cause: thrown,
      remedy: 'Check the path.',
    });
  }
}

/** Lines of NAME=VALUE or NAME; blank lines and those that begin with `#` are skipped, and values are taken as they stand. */
function entriesOf(path: string, variable: Variable): [string, string][] {
  return readFile(path)
    .split(/\r?\n/)
    .flatMap((line, n) =>
      line.trim() === '' || line.trimStart().startsWith('#')
        ? []
        : [entryOf(line.trimStart(), variable, `${path}:${n + 1}`)],
    );
}

/** All variables that were asked for; what stands on the command line wins over files, and the last one wins. */
export function sessionEnv(
  { env = [], envFile = [] }: EnvOptions,
  variable: Variable,
): Record<string, string> | undefined {
  if (env.length + envFile.length === 0) return undefined;
  return Object.fromEntries([
    ...envFile.flatMap((path) => entriesOf(path, variable)),
    ...env.map((text) => entryOf(text, variable, '--env')),
  ]);
}
