import type { Command } from 'commander';
import type { Me } from '../api/wire/token.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { moment, show } from './show.ts';
import { oneLine, renderFacts } from './table.ts';
import { print } from './terminal.ts';

const meText = (me: Me, server: string): string =>
  renderFacts([
    ['Name', oneLine(me.name)],
    ['Role', me.role],
    ['Expires', me.expires_at === undefined ? 'never' : moment(me.expires_at)],
    ['Events', `by ${oneLine(me.who)}`],
    ['Server', server],
  ]);

function meCommand(cli: Cli): Command {
  return showing('me', 'show who you are to the server: the name and role of your token')
    .alias('whoami')
    .action(async (_options, command: Command) => {
      const client = clientOf(cli, command);
      const me = await client.call<Me>('/me');
      print(
        cli.terminal,
        show(me, formatOf(command), () => meText(me, client.place.address)),
      );
    });
}

export const commands: readonly CliCommand[] = [{ name: 'me', order: 118, make: meCommand }];
