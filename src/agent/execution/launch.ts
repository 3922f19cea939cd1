import type { ChildProcess } from 'node:child_process';
import type { Environment } from './environment.ts';
import { sessionEnvironment } from './environment.ts';
import type { Folder, RunRecord } from './folder.ts';
import { DEFAULT_PATH, type FindProgram } from './programs.ts';
import { terminalCommand } from './terminal.ts';
import { spawnWrapper, type WrapperTools } from './wrapper.ts';

export interface LaunchOptions {
  /** What every session finds in its environment, unless it brings its own. */
  readonly env: Environment;
  readonly tools: WrapperTools;
  readonly find: FindProgram;
}

/** Starts the command of that record; a `Fault` says why it cannot. */
export function launchCommand(
  folder: Folder,
  record: RunRecord,
  { env: base, tools, find }: LaunchOptions,
): ChildProcess {
  const { spec } = record;
  const { env, cwd } = sessionEnvironment(record.session, spec, base);
  const { terminal } = spec;
  const command = {
    argv: terminal ? terminalCommand(folder, { command: spec.command, env, terminal }, find) : spec.command,
    env: terminal ? { ...env, SHELL: '/bin/sh' } : env,
    cwd,
    hasInput: spec.stdin || terminal !== undefined,
    hasTerminal: terminal !== undefined,
  };
  return spawnWrapper(folder, record.launch, { tools, command });
}

/** Says so where a shell's 127 means that there is no such program. */
export function whyNotFound(record: RunRecord, { env: base, find }: LaunchOptions): string | undefined {
  const [program = ''] = record.spec.command;
  const { env, cwd } = sessionEnvironment(record.session, record.spec, base);
  const isThere = find(program, env.PATH ?? DEFAULT_PATH, cwd) !== undefined;
  return isThere ? undefined : `${program}: command not found`;
}
