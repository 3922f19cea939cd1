import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { commandAs } from '#host/account.ts';
import { DEFAULT_PATH, type FindProgram } from '#host/programs.ts';
import type { RunEnd } from './ending.ts';
import { type EnvironmentParts, sessionEnvironment } from './environment.ts';
import type { Folder, RunRecord } from './folder.ts';
import { terminalCommand } from './terminal.ts';
import { spawnWrapper, type WrapperTools } from './wrapper.ts';

export interface LaunchOptions extends EnvironmentParts {
  readonly tools: WrapperTools;
  readonly find: FindProgram;
}

/** Starts the command of that record; a `Fault` says why it cannot. */
export function launchCommand(folder: Folder, record: RunRecord, options: LaunchOptions): ChildProcess {
  const { tools, find, account } = options;
  const { spec } = record;
  const { env, cwd } = sessionEnvironment(record.session, spec, options);
  const { terminal } = spec;
  const own = account ? commandAs(account, spec.command, find) : spec.command;
  const command = {
    argv: terminal ? terminalCommand(folder, { command: own, env, terminal }, find) : own,
    env: terminal ? { ...env, SHELL: '/bin/sh' } : env,
    cwd,
    hasInput: spec.stdin || terminal !== undefined,
    hasTerminal: terminal !== undefined,
    cgroup: record.cgroup,
  };
  return spawnWrapper(folder, record.launch, { tools, command });
}

/**
 * The end of a session that has no program, with the exit codes of a shell: the shell above the command would say so
 * too, in words of its own and in the midst of the output.
 */
export function endWithoutProgram(record: RunRecord, options: LaunchOptions): RunEnd | undefined {
  const [program = ''] = record.spec.command;
  const { env, cwd } = sessionEnvironment(record.session, record.spec, options);
  if (options.find(program, env.PATH ?? DEFAULT_PATH, cwd) !== undefined) return undefined;
  return program.includes('/') && existsSync(resolve(cwd, program))
    ? { how: 'exited', exitCode: 126, message: `${program}: not an executable file` }
    : { how: 'exited', exitCode: 127, message: `${program}: command not found` };
}
