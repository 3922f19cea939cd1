import { Command } from 'commander';
import { thawCommand as toThaw } from '#core/worker.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { print } from './terminal.ts';

const scopeOf = (pool: string | undefined): string => (pool === undefined ? 'The fleet' : `Pool ${pool}`);

function freezeCommand(cli: Cli): Command {
  return new Command('freeze')
    .description('stop launching, deleting and requeueing at once; running sessions go on')
    .addHelpText('after', '\nSessions that an agent runs and the server does not know are never killed, frozen or not.')
    .option('-p, --pool <name>', 'only this pool')
    .option('--why <text>', 'why you freeze it, shown to others', 'by hand')
    .action(async ({ pool, why }: { pool?: string; why: string }, command: Command) => {
      await clientOf(cli, command).call('/freeze', { method: 'POST', body: { pool, why } });
      print(cli.terminal, `${scopeOf(pool)} is frozen. To thaw it: \`${toThaw(pool)}\``);
    });
}

function thawCommand(cli: Cli): Command {
  return new Command('thaw')
    .description('end a freeze of a pool or of the fleet')
    .option('-p, --pool <name>', 'only this pool')
    .action(async ({ pool }: { pool?: string }, command: Command) => {
      await clientOf(cli, command).call('/thaw', { method: 'POST', body: { pool } });
      print(cli.terminal, `${scopeOf(pool)} is thawed.`);
    });
}

export const commands: readonly CliCommand[] = [
  { name: 'freeze', order: 90, make: freezeCommand },
  { name: 'thaw', order: 100, make: thawCommand },
];
