import type { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Shadow } from '../api/wire/forecast.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { readTextOf } from './document-file.ts';
import { withExamples } from './example.ts';
import { shadowText } from './forecast-text.ts';
import { named } from './option.ts';
import { show } from './show.ts';
import { print } from './terminal.ts';

export function shadowCommand(cli: Cli): Command {
  const command = showing('shadow', 'compute another policy beside that of a pool, over the sessions that come')
    .argument('<name>', undefined, named('<name>'))
    .argument('[file]', 'a pool document with the other policy, or - for stdin; without it, show what has come of it')
    .option('--off', 'end it')
    .action(async (name: string, file: string | undefined, { off }: { off?: boolean }, command: Command) => {
      const [client, to] = [clientOf(cli, command), `/pools/${encodeURIComponent(name)}/shadow`];
      if (off && file !== undefined) {
        throw new Fault('invalid', '--off ends the shadow; it takes no file.', { remedy: 'Give one of them.' });
      }
      if (off) {
        await client.call(to, { method: 'DELETE' });
        return print(cli.terminal, `Pool ${name} has no shadow.`);
      }
      const body = file === undefined ? undefined : await readTextOf(file, cli.terminal.input);
      const shadow = await client.call<Shadow>(to, body === undefined ? {} : { method: 'PUT', body });
      print(
        cli.terminal,
        show(shadow, formatOf(command), () => shadowText(shadow)),
      );
    });
  return withExamples(command, [
    ['muster pool shadow gpu gpu-new.yaml', 'from now on'],
    ['muster pool shadow gpu', 'what it would have cost, and kept waiting'],
    ['muster pool shadow gpu --off', 'end it'],
  ]);
}
