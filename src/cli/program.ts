import { Command, CommanderError } from 'commander';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Cli, Local } from './command.ts';
import { completionCommand } from './completion.ts';
import { configCommand } from './config.ts';
import { eventCommand } from './event.ts';
import { freezeCommand, thawCommand } from './freeze.ts';
import { poolCommand } from './pool.ts';
import { runCommand, shellCommand } from './run.ts';
import { backupCommand, loginCommand, restoreCommand, serverCommand } from './server.ts';
import { sessionCommand } from './session.ts';
import { sourceCommand } from './source.ts';
import { tokenCommand } from './token.ts';
import { workerCommand } from './worker.ts';

/** The command `muster`, whole. */
export function buildProgram(cli: Cli, local: Local, version: string): Command {
  const program = new Command('muster')
    .description('One control plane for elastic compute.')
    .version(version, '-V, --version')
    .option('--address <url>', 'the server (MUSTER_ADDRESS)')
    .option('--token <token>', 'who you are (better: MUSTER_TOKEN)')
    .enablePositionalOptions()
    .showHelpAfterError('(see --help)')
    .showSuggestionAfterError();

  for (const command of [
    runCommand(cli),
    shellCommand(cli),
    poolCommand(cli),
    sessionCommand(cli),
    workerCommand(cli),
    eventCommand(cli),
    sourceCommand(cli),
    freezeCommand(cli),
    thawCommand(cli),
    tokenCommand(cli),
    loginCommand(cli),
    serverCommand(cli, local),
    agentCommand(cli, local),
    configCommand(cli, local),
    backupCommand(cli),
    restoreCommand(cli, local),
    completionCommand(cli),
  ]) {
    program.addCommand(command);
  }
  throwInsteadOfExit(program);
  return program;
}

function agentCommand(cli: Cli, local: Local): Command {
  return new Command('agent')
    .description('run an agent: join a pool and run its sessions on this machine')
    .option('-p, --pool <name>', 'the pool to join')
    .option('-c, --config <file>', 'its configuration')
    .action(async (options: { pool?: string; config?: string }) => cli.exitWith(await local.agent(options)));
}

// Commander would end the process itself; only main.ts does that.
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}

/** Runs one command line; answers the exit code. */
export async function runProgram(program: Command, words: readonly string[], cli: Cli): Promise<number | undefined> {
  try {
    await program.parseAsync(words, { from: 'user' });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : FAULTS.invalid.exit;
    const fault = Fault.from(thrown);
    cli.terminal.errors.write(sayFault(fault));
    return FAULTS[fault.kind].exit;
  }
}

/** What, where, and what to do. */
export function sayFault(fault: Fault): string {
  const place = fault.at ? `\n  at ${fault.at}` : '';
  const stack = fault.kind === 'internal' && fault.cause instanceof Error ? `\n${fault.cause.stack}` : '';
  return `muster: ${fault.message}${place}\n  ${fault.remedy}${stack}\n`;
}
