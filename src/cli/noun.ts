// The three shapes that most commands have: a list, one thing shown, something done to one thing.
import { Command } from 'commander';
import type { Client } from './client.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { named } from './option.ts';
import { LIST_FORMATS, show, showList, type TableLayout } from './show.ts';
import { print } from './terminal.ts';
import { watchPicture } from './watch.ts';

/** A noun with its commands: `pool`, also `pools`. */
export function nounCommand(name: string, summary: string, commands: readonly Command[]): Command {
  const noun = new Command(name).alias(`${name}s`).description(summary);
  for (const command of commands) noun.addCommand(command);
  return noun;
}

export interface ListShape<T, O> {
  readonly summary: string;
  /** Where its things come and go: then `-w` shows that. */
  readonly isLively?: boolean;
  read(client: Client, options: O): Promise<readonly T[]>;
  listing(nowMs: number): TableLayout<T>;
}

/** `ls`: all things of a noun; by another name where it stands apart from its noun. */
export function listCommand<T, O = unknown>(cli: Cli, shape: ListShape<T, O>, name = 'ls'): Command {
  const list = showing(name, shape.summary, LIST_FORMATS);
  if (name === 'ls') list.alias('list');
  if (shape.isLively) list.option('-w, --watch', 'show changes until Ctrl-C');
  return list.action(async (options: O & { watch?: boolean }, command: Command) => {
    const client = clientOf(cli, command);
    const draw = async (): Promise<string> =>
      showList(await shape.read(client, options), formatOf(command), shape.listing(cli.terminal.clock.now()));
    if (options.watch) return watchPicture(cli, draw);
    print(cli.terminal, await draw());
  });
}

export interface ShowShape<T, O> {
  readonly name: string;
  readonly summary: string;
  /** What its argument is, as in `<name>`. */
  readonly of: string;
  read(client: Client, name: string, options: O): Promise<T>;
  /** As people see it. */
  text(found: T): string;
}

/** A command that shows something of one thing. */
export function showCommand<T, O = unknown>(cli: Cli, shape: ShowShape<T, O>): Command {
  return showing(shape.name, shape.summary)
    .argument(shape.of, undefined, named(shape.of))
    .action(async (name: string, options: O, command: Command) => {
      const found = await shape.read(clientOf(cli, command), name, options);
      print(
        cli.terminal,
        show(found, formatOf(command), () => shape.text(found)),
      );
    });
}

export interface ActShape<O> {
  readonly name: string;
  readonly summary: string;
  readonly of: string;
  /** Does it, and answers what to say of it. */
  act(client: Client, name: string, options: O): Promise<string>;
}

/** A command that does something to one thing. */
export function actCommand<O = unknown>(cli: Cli, shape: ActShape<O>): Command {
  return new Command(shape.name)
    .description(shape.summary)
    .argument(shape.of, undefined, named(shape.of))
    .action(async (name: string, options: O, command: Command) => {
      print(cli.terminal, await shape.act(clientOf(cli, command), name, options));
    });
}
