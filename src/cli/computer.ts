import { Command } from 'commander';
import { parse } from 'yaml';
import { Fault } from '#core/fault.ts';
import { nearest } from '#core/nearest.ts';
import type { Computer, ComputerIn, ComputerOffers, ComputerWhy } from '../api/wire/computer.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { computerFacts, computerLine, computerListing, offersText, whyComputerText } from './computer-text.ts';
import { computerPath as path, useCommands } from './computer-use.ts';
import { readDocuments } from './document-file.ts';
import { withExamples } from './example.ts';
import { followProgress, unlessMissing } from './follow-progress.ts';
import { listCommand, nounCommand, showCommand } from './noun.ts';
import { named, pair, span, whole } from './option.ts';
import { show } from './show.ts';
import { print } from './terminal.ts';

const NAME = '<name>';

interface CreateOptions {
  readonly platform?: string;
  readonly template?: string;
  readonly backend?: string;
  readonly set?: Readonly<Record<string, string>>;
  readonly ttl?: string;
  readonly wait?: boolean;
}

const SETTLED: readonly string[] = ['running', 'stopped', 'error'];

const follow = (cli: Cli, client: Client, name: string, timeout?: string): Promise<Computer | undefined> =>
  followProgress<Computer>(cli, client, {
    path: path(name),
    lineOf: computerLine,
    isSettled: ({ status }) => SETTLED.includes(status),
    timeout,
  });

function exitLike(cli: Cli, computer: Computer | undefined): void {
  if (computer?.status !== 'running') cli.exitWith(1);
}

async function backendIn(cli: Cli, file: string): Promise<Record<string, unknown>> {
  const [document, second] = await readDocuments([file], cli.terminal.input);
  const found: unknown = second ? undefined : parse(document?.text ?? '');
  if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Record<string, unknown>;
  throw new Fault('invalid', `${file} holds no backend.`, {
    remedy: 'Write one as a pool names it, for example `docker: {image: …}`.',
  });
}

function createCommand(cli: Cli): Command {
  const command = new Command('create')
    .description('create a computer: one machine of your own')
    .argument(NAME, 'small letters, digits and hyphens, beginning with a letter', named(NAME))
    .option('--platform <platform>', 'where it runs: see `muster computer platforms`', named('--platform'))
    .option('--template <template>', "a template of the server's file", named('--template'))
    .option(
      '--backend <file>',
      'a backend as a pool names it, as YAML or JSON; - reads standard input',
      named('--backend'),
    )
    .option('--set <option=value>', 'an option of the platform; may be repeated', pair('--set'))
    .option(
      '--ttl <duration>',
      'how long it lasts, for example 8h, or off (default: that of the server, 24h unless it says so)',
      (text) => (text === 'off' ? text : span('--ttl')(text)),
    )
    .option('--wait', 'wait until it runs')
    .action(async (name: string, options: CreateOptions, command: Command) => {
      const { platform, template, backend: file, set, ttl, wait } = options;
      const client = clientOf(cli, command);
      const backend = file === undefined ? undefined : await backendIn(cli, file);
      const body: ComputerIn = { name, platform, template, backend, options: set, ttl };
      const made = await client.call<Computer>('/computers', { method: 'POST', body });
      if (wait) return exitLike(cli, await follow(cli, client, name));
      print(cli.terminal, computerLine(made));
    });
  return withExamples(command, [
    ['muster computer create dev --platform aws --ttl 8h --wait', 'and wait until it runs'],
    ['muster computer create dev --platform azure --set vm_size=Standard_D4s_v5', 'with an option'],
    ['muster computer create dev --template small', "from a template of the server's file"],
    ['muster computer create dev --backend backend.yaml', 'on any backend; for admins'],
  ]);
}

function platformsCommand(cli: Cli): Command {
  return showing('platforms', 'list platforms and templates, or the options of one platform')
    .argument('[platform]', 'show the options of this one')
    .action(async (name: string | undefined, _options, command: Command) => {
      const all = await clientOf(cli, command).call<ComputerOffers>('/computer-offers');
      const shown = name === undefined ? all : { platforms: [platformIn(all, name)], templates: [] };
      print(
        cli.terminal,
        show(shown, formatOf(command), () => offersText(shown)),
      );
    });
}

function platformIn({ platforms }: ComputerOffers, name: string): ComputerOffers['platforms'][number] {
  const found = platforms.find((one) => one.name === name);
  if (found) return found;
  const names = platforms.map((one) => one.name);
  const meant = nearest(name, names);
  const remedy = meant === undefined ? `Name one of ${names.join(', ')}.` : `Did you mean ${meant}?`;
  throw new Fault('missing', `There is no platform ${name}.`, { remedy });
}

function extendCommand(cli: Cli): Command {
  const command = new Command('extend')
    .description('let a computer last longer')
    .argument(NAME, undefined, named(NAME))
    .argument('<duration>', 'from the later of now and its end', span('<duration>'))
    .action(async (name: string, by: string, _options, command: Command) => {
      const call = { method: 'POST', body: { by } } as const;
      print(cli.terminal, computerLine(await clientOf(cli, command).call<Computer>(`${path(name)}/extend`, call)));
    });
  return withExamples(command, [['muster computer extend dev 2h', 'two hours more']]);
}

function removeCommand(cli: Cli): Command {
  return new Command('rm')
    .description('remove a computer, in whatever state it is')
    .argument(NAME, undefined, named(NAME))
    .option('--wait', 'wait until nothing of it exists')
    .action(async (name: string, { wait }: { wait?: boolean }, command: Command) => {
      const client = clientOf(cli, command);
      const { end, ...removed } = await client.call<Computer>(path(name), { method: 'DELETE' });
      if (end || !wait) return print(cli.terminal, computerLine({ ...removed, end }));
      // It may be gone before the question arrives.
      await follow(cli, client, name).catch(unlessMissing);
      const left = await client.call<Computer>(path(name)).catch(unlessMissing);
      if (left === undefined || left.end || left.id !== removed.id)
        return print(cli.terminal, `Computer ${name} is gone.`);
      cli.exitWith(1);
    });
}

function waitCommand(cli: Cli): Command {
  return new Command('wait')
    .description('wait until a computer runs; exits with 1 where it fails or is gone')
    .argument(NAME, undefined, named(NAME))
    .option('--timeout <duration>', 'longest time to wait (default: 1h)', span('--timeout'))
    .action(async (name: string, { timeout }: { timeout?: string }, command: Command) => {
      exitLike(cli, await follow(cli, clientOf(cli, command), name, timeout));
    });
}

function computerCommand(cli: Cli): Command {
  const computer = nounCommand('computer', 'computers: one machine each, for one person', [
    createCommand(cli),
    listCommand<Computer, { all?: boolean }>(cli, {
      summary: 'list computers',
      isLively: true,
      read: (client, { all }) => client.list('/computers', { all }),
      listing: computerListing,
    }).option('-a, --all', 'also those that have ended, the newest first'),
    showCommand<Computer>(cli, {
      name: 'show',
      summary: 'show one computer, or the one of that name that ended last',
      of: NAME,
      read: (client, name) => client.call(path(name)),
      text: computerFacts,
    }),
    showCommand<ComputerWhy, { limit: number }>(cli, {
      name: 'why',
      summary: 'say what a computer waits for or why it failed, with its last events',
      of: NAME,
      read: (client, name, { limit }) => client.call(`${path(name)}/why`, { query: { limit } }),
      text: whyComputerText,
    }).option('-n, --limit <count>', 'number of events', whole('--limit', 1, 200), 10),
    waitCommand(cli),
    ...useCommands(cli),
    extendCommand(cli),
    removeCommand(cli),
    platformsCommand(cli),
  ]);
  return withExamples(computer, [
    ['muster computer create dev --platform aws --wait', 'a machine of your own'],
    ['muster computer exec dev -- uname -a', 'run a command there'],
    ['muster computer rm dev', 'remove it'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'computer', order: 63, make: computerCommand }];
