import { Command } from 'commander';
import type { Cli, CliCommand, Local } from './command.ts';
import { withExamples } from './example.ts';

function agentCommand(cli: Cli, local: Local): Command {
  const command = new Command('agent')
    .description('run an agent: it joins a pool and runs sessions on this machine')
    .option('-p, --pool <name>', 'the pool to join')
    .option('-c, --config <file>', 'configuration file')
    .action(async (options: { pool?: string; config?: string }) => cli.exitWith(await local.agent(options)));
  return withExamples(command, [['muster agent --pool edge --config agent.yaml', 'joins the pool edge']]);
}

export const commands: readonly CliCommand[] = [{ name: 'agent', order: 140, make: agentCommand }];
