import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { homedir, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import { accountVariables, commandAs } from '#host/account.ts';
import { SELF_OF_SHELL } from '#host/processes.ts';
import { DEFAULT_PATH, findProgram } from '#host/programs.ts';
import type { ProcessConfig } from './config.ts';
import { NONCE } from './living.ts';
import type { MachineFolder, MachineRecord } from './machine-folder.ts';
import { commandFor, configIn } from './other-user.ts';

// With -C the file must be new. So of any number of shells that are started for one machine, by whomever and however
// late, one becomes the agent and the others end.
const CLAIM = `
${SELF_OF_SHELL}
set -C
echo "$$ | $muster_self" >"$1" || exit 0
shift
exec "$@"
`;

function environmentOf(
  { nonce, account }: MachineRecord,
  config: ProcessConfig,
  context: Context,
): Record<string, string> {
  const { TMPDIR, ...everyones } = context.agentEnv ?? {};
  return {
    PATH: DEFAULT_PATH,
    HOME: homedir(),
    LANG: 'C.UTF-8',
    ...everyones,
    // That of the server is often closed to others.
    ...(account ? accountVariables(account) : TMPDIR === undefined ? {} : { TMPDIR }),
    ...config.env,
    MUSTER_SESSION_ENV: Object.keys(config.env).join(','),
    [NONCE]: nonce,
  };
}

/** As the server, or as another user; that one's file is in its own folder. */
async function commandOf(
  folder: MachineFolder,
  { account, workDir, nonce }: MachineRecord,
  { agentCommand }: Context,
): Promise<readonly string[]> {
  if (!account) return [...agentCommand, 'agent', '--config', folder.configPath];
  const command = await commandFor(account, agentCommand, { shared: dirname(workDir), nonce });
  return commandAs(account, [...command, 'agent', '--config', configIn(workDir)], findProgram);
}

/** Starts the agent of that machine in a session of its own; resolves when it has begun, or was not the first. */
export async function startAgent(
  folder: MachineFolder,
  record: MachineRecord,
  { config, context }: { readonly config: ProcessConfig; readonly context: Context },
): Promise<void> {
  const { clock } = context;
  const words = [folder.pidPath, ...(await commandOf(folder, record, context))];
  const log = openSync(folder.logPath, 'a', 0o600);
  const child = spawn('/bin/sh', ['-c', CLAIM, 'muster', ...words], {
    cwd: record.account ? record.workDir : folder.path,
    env: environmentOf(record, config, context),
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  let isOver = false;
  child.once('exit', () => {
    isOver = true;
  });
  await once(child, 'spawn').catch((thrown) => {
    throw new Fault('unavailable', `The agent could not be started: ${Fault.from(thrown).message}.`);
  });
  if (config.nice !== undefined && child.pid !== undefined) setPriority(child.pid, config.nice);
  while (!folder.hasBegun()) {
    if (isOver) throw new Fault('unavailable', `The agent could not write to ${folder.path}; the disk may be full.`);
    await clock.sleep(2);
  }
}
