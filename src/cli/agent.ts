import { Command } from 'commander';
import type { AgentCommandOptions, Cli, CliCommand, Local } from './command.ts';
import { withExamples } from './example.ts';

function agentCommand(cli: Cli, local: Local): Command {
  const command = new Command('agent')
    .description('run an agent: it joins a pool and runs sessions on this machine')
    .option('-p, --pool <name>', 'the pool to join')
    .option('-c, --config <file>', 'configuration file')
    .option('--serve <port>', 'answer GET /health on this port; without a server in the file it does nothing else')
    .option('--end-code <number>', 'exit code when the time in ends_at has come', '0')
    .action(async (options: AgentCommandOptions) => cli.exitWith(await local.agent(options)));
  return withExamples(command, [
    ['muster agent --pool edge --config agent.yaml', 'joins the pool edge'],
    ['muster agent --pool edge --config agent.yaml --serve 8000', 'answers probes on port 8000 too'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'agent', order: 140, make: agentCommand }];
