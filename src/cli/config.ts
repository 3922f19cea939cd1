import { styleText } from 'node:util';
import { Argument, Command } from 'commander';
import { FAULTS } from '#core/fault.ts';
import type { Cli, CliCommand, Local } from './command.ts';
import { withExamples } from './example.ts';
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

  const schema = new Command('schema')
    .description('print the JSON schema of a file, with which editors check it')
    .addArgument(
      new Argument('[file]', 'the configuration of a server, or a pool document')
        .choices(['server', 'pool'])
        .default('server'),
    )
    .action(async (file: 'server' | 'pool') => {
      cli.terminal.output.write(await local.configSchema(file));
    });
  withExamples(schema, [
    ['muster config schema > muster.schema.json', "for the server's file"],
    ['muster config schema pool > pool.schema.json', 'for pool documents'],
  ]);
  return config.addCommand(schema);
}

export const commands: readonly CliCommand[] = [{ name: 'config', order: 150, make: configCommand }];
