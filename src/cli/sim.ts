import { styleText } from 'node:util';
import { Argument, Command } from 'commander';
import type { Cli, Local, SimulatedCloud } from './command.ts';
import { withExamples } from './example.ts';
import { whole } from './option.ts';
import { isInteractive, print } from './terminal.ts';

function story({ address, folder, environment, tries }: SimulatedCloud, bold: (text: string) => string): string {
  const settings = Object.entries(environment).map(([name, value]) => `  export ${name}=${value}`);
  return [
    '',
    `The simulated cloud answers at ${bold(address)}. Its machines are processes of this computer, below ${folder}.`,
    '',
    'Set this where the server runs, and where aws or Terraform do:',
    '',
    ...settings,
    '',
    'Then try, in that terminal:',
    '',
    ...tries.map((line) => `  ${line}`),
    '',
    'Ctrl-C ends it and all its machines.',
    '',
  ].join('\n');
}

/** Clouds for trying a configuration without an account. */
export function simCommand(cli: Cli, local: Local): Command {
  const cloud = new Command('cloud')
    .description('run a simulated cloud on this computer; its machines really start')
    .addArgument(new Argument('<cloud>', 'which').choices(['aws']))
    .option('--port <number>', 'where it answers (default: any that is free)', whole('--port', 1, 65_535))
    .action(async (name: string, { port = 0 }: { port?: number }) => {
      const bold = (text: string): string => (isInteractive(cli.terminal.output) ? styleText('bold', text) : text);
      const started = (simulated: SimulatedCloud): void => print(cli.terminal, story(simulated, bold));
      await local.simCloud({ cloud: name, port, signal: cli.signal, started });
    });
  withExamples(cloud, [['muster sim cloud aws --port 4566', 'EC2, Parameter Store and STS, with nobody to pay']]);
  return new Command('sim').description('simulated clouds, for trying a configuration').addCommand(cloud);
}
