import { styleText } from 'node:util';
import { Argument, Command } from 'commander';
import { quoted } from '#core/shell-text.ts';
import type { SimulatedCloud } from '#core/simulation.ts';
import type { Cli, CliCommand, Local } from './command.ts';
import { withExamples } from './example.ts';
import { whole } from './option.ts';
import { isInteractive, print } from './terminal.ts';

/** For a shell, as people would type it. */
const wordOf = (text: string): string => (/^[\w@%+=:,./-]*$/.test(text) ? text : quoted(text));

function story({ address, folder, environment, tries }: SimulatedCloud, bold: (text: string) => string): string {
  const settings = Object.entries(environment).map(([name, value]) => `  export ${name}=${wordOf(value)}`);
  const machines = ` Its machines are processes on this computer; their files are in ${folder}.`;
  return [
    '',
    `The simulated cloud listens on ${bold(address)}.${folder === '' ? '' : machines}`,
    '',
    "Set these variables for the server and for the cloud's own tools:",
    '',
    ...settings,
    '',
    'Then try, in that terminal:',
    '',
    ...tries.map((line) => `  ${line}`),
    '',
    folder === '' ? 'Ctrl-C ends it.' : 'Ctrl-C ends it and all its machines.',
    '',
  ].join('\n');
}

/** Clouds for trying a configuration without an account. */
function simCommand(cli: Cli, local: Local): Command {
  const { simulations } = local;
  const cloud = new Command('cloud')
    .description('run a simulated cloud on this computer; its machines are real processes')
    .addArgument(new Argument('<cloud>', 'the cloud to simulate').choices(simulations.map(({ id }) => id)))
    .option('--port <number>', 'port to listen on (default: any free port)', whole('--port', 1, 65_535))
    .option('--kubeconfig <file>', 'make its GPU machines nodes of this cluster, which must be on this computer')
    .action(async (name: string, { port = 0, kubeconfig }: { port?: number; kubeconfig?: string }) => {
      const bold = (text: string): string => (isInteractive(cli.terminal.output) ? styleText('bold', text) : text);
      const started = (simulated: SimulatedCloud): void => print(cli.terminal, story(simulated, bold));
      await local.simCloud({ cloud: name, port, kubeconfig, signal: cli.signal, started });
    });
  withExamples(
    cloud,
    simulations.map(({ id, summary }) => [`muster sim cloud ${id} --port 4566`, `${summary}, without an account`]),
  );
  return new Command('sim').description('simulated clouds, for trying a configuration').addCommand(cloud);
}

export const commands: readonly CliCommand[] = [{ name: 'sim', order: 180, make: simCommand }];
