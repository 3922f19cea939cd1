import { styleText } from 'node:util';
import { Command } from 'commander';
import { FAULTS } from '#core/fault.ts';
import type { Cli, CliCommand, Local } from './command.ts';
import { print } from './terminal.ts';

function configCommand(cli: Cli, local: Local): Command {
  const config = new Command('config').description('configuration files');

  config.addCommand(
    new Command('check')
      .description('check a server configuration or a pool document; prints every problem with its line')
      .argument('<file>')
      .action(async (file: string) => {
        const { problems, warnings } = await local.checkConfig(file);
        for (const warning of warnings) print(cli.terminal, `${styleText('yellow', 'warning')} ${warning}`);
        for (const problem of problems) {
          print(cli.terminal, `${styleText('red', 'error')} ${problem.at ? `${problem.at}: ` : ''}${problem.message}`);
        }
        if (problems.length > 0) return cli.exitWith(FAULTS.invalid.exit);
        print(cli.terminal, `${file} is valid.`);
      }),
  );
  return config;
}

export const commands: readonly CliCommand[] = [{ name: 'config', order: 150, make: configCommand }];
