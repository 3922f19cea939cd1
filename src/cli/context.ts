import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { Fault } from '#core/fault.ts';
import { type Cli, type CliCommand, formatOf, showing } from './command.ts';
import { type Contexts, contextNamed, LOCAL, type NamedServer, readContexts, writeContexts } from './contexts.ts';
import { withExamples } from './example.ts';
import { authorityIn, serverOrigin, tokenIn } from './find.ts';
import { named } from './option.ts';
import { showList, type TableLayout } from './show.ts';
import { oneLine } from './table.ts';
import { print } from './terminal.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

interface Shown {
  readonly name: string;
  readonly address?: string;
  readonly pool?: string | undefined;
  readonly has_token?: boolean;
  readonly current: boolean;
}

const listing: TableLayout<Shown> = {
  nothing: 'No contexts.',
  columns: [
    { title: 'CURRENT', value: ({ current }) => (current ? '*' : '') },
    { title: 'NAME', value: ({ name }) => oneLine(name) },
    { title: 'ADDRESS', value: ({ address }) => (address === undefined ? 'this machine' : oneLine(address)) },
    { title: 'POOL', value: ({ pool }) => pool && oneLine(pool) },
    { title: 'TOKEN', value: ({ has_token }) => (has_token === false ? 'none' : 'yes') },
  ],
};

/** Tokens are never shown. */
function shownOf({ current, contexts }: Contexts): Shown[] {
  const others = contexts.map(({ name, address, pool, token }) => ({
    name,
    address,
    pool,
    has_token: token !== undefined,
    current: name === current,
  }));
  return [{ name: LOCAL, current: current === undefined }, ...others];
}

interface AddOptions {
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly pool?: string;
}

function readToken(file: string): string {
  try {
    return tokenIn(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    const { message } = thrown as Error;
    throw new Fault('invalid', `--token-file ${file} cannot be read: ${message}.`, { remedy: 'Check the path.' });
  }
}

function newContext(known: Contexts, name: string, url: string, options: AddOptions): NamedServer {
  if (!NAME.test(name)) {
    throw new Fault('invalid', `${name} cannot name a context.`, {
      remedy: 'Use at most 63 letters, digits, dots, underscores and hyphens; begin with a letter or a digit.',
    });
  }
  const same = known.contexts.find((context) => context.name === name);
  if (same || name === LOCAL) {
    const whose = same ? `for ${same.address}` : 'for the server of this machine';
    const remedy = same ? `Choose another name, or run \`muster context rm ${name}\` first.` : 'Choose another name.';
    throw new Fault('conflict', `There is a context ${name} already, ${whose}.`, { remedy });
  }
  return {
    name,
    address: serverOrigin(url, 'the URL of the context'),
    ...(options.tokenFile !== undefined && { token: readToken(options.tokenFile) }),
    ...(options.ca !== undefined && { ca: authorityIn(options.ca) }),
    ...(options.pool !== undefined && { pool: options.pool }),
  };
}

function addCommand(cli: Cli): Command {
  return new Command('add')
    .description('add a server by name; the first one added is used at once')
    .argument('<name>')
    .argument('<url>', 'for example https://muster.lab:8081')
    .option(
      '--token-file <file>',
      'file with its API token, or - for stdin; the token is copied',
      named('--token-file'),
    )
    .option('--pool <name>', 'the pool for `run` and `shell` where none is given', named('--pool'))
    .action((name: string, url: string, options: AddOptions, command: Command) => {
      const known = readContexts(cli.contextsFile);
      const { ca } = command.optsWithGlobals<{ ca?: string }>();
      const context = newContext(known, name, url, { ...options, ...(ca !== undefined && { ca }) });
      const isFirst = known.contexts.length === 0;
      const contexts = [...known.contexts, context];
      writeContexts(cli.contextsFile, { ...known, ...(isFirst && { current: name }), contexts });
      const use = isFirst ? 'It is used from now on.' : `Use it with \`muster context use ${name}\`.`;
      print(cli.terminal, `Added context ${name}. ${use}`);
    });
}

/** The contexts with another current one; none is the server of this machine. */
function withCurrent({ contexts }: Contexts, current: string | undefined): Contexts {
  return current === undefined ? { contexts } : { current, contexts };
}

function useCommand(cli: Cli): Command {
  return new Command('use')
    .description('use this server from now on; `local` is that of this machine')
    .argument('<name>', undefined, named('<name>'))
    .action((name: string) => {
      const known = readContexts(cli.contextsFile);
      const address = name === LOCAL ? 'the server of this machine' : contextNamed(known, name).address;
      writeContexts(cli.contextsFile, withCurrent(known, name === LOCAL ? undefined : name));
      print(cli.terminal, `Commands now go to ${address}.`);
    });
}

function removeCommand(cli: Cli): Command {
  return new Command('rm')
    .description('forget a server and its token')
    .argument('<name>', undefined, named('<name>'))
    .action((name: string) => {
      const known = readContexts(cli.contextsFile);
      contextNamed(known, name);
      const contexts = known.contexts.filter((context) => context.name !== name);
      writeContexts(cli.contextsFile, withCurrent({ contexts }, known.current === name ? undefined : known.current));
      print(cli.terminal, `Removed context ${name}.`);
    });
}

function contextCommand(cli: Cli): Command {
  const list = showing('ls', 'list servers; the current one has a star')
    .alias('list')
    .action((_options, command: Command) => {
      print(cli.terminal, showList(shownOf(readContexts(cli.contextsFile)), formatOf(command), listing));
    });
  const context = new Command('context').alias('contexts').description('servers that commands talk to, by name');
  for (const each of [addCommand(cli), useCommand(cli), list, removeCommand(cli)]) context.addCommand(each);
  return withExamples(context, [
    ['muster context add lab https://muster.lab:8081 --token-file t', 'the file t holds the token'],
    ['muster context use lab', 'commands now go to that server'],
    ['muster context use local', 'back to the server of this machine'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'context', order: 115, make: contextCommand }];
