import { Command, Option } from 'commander';
import { Fault } from '#core/fault.ts';
import type { Plan, Pool, Why } from '../api/wire/pool.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { type FileDocument, readDocuments } from './document-file.ts';
import { withExamples } from './example.ts';
import { exportCommand } from './export/export.ts';
import { actCommand, listCommand, nounCommand, showCommand } from './noun.ts';
import { whole } from './option.ts';
import { shadowCommand } from './pool-shadow.ts';
import { planText, poolFacts, poolListing, whyText } from './pool-text.ts';
import { print } from './terminal.ts';

const path = (name: string): string => `/pools/${encodeURIComponent(name)}`;

const MOST_NAMED = 10;

function namesOf(documents: readonly FileDocument[]): string {
  const named = documents.slice(0, MOST_NAMED).map(({ key }) => key);
  const left = documents.length - named.length;
  return `${named.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** Of several, a refused one must be distinguished from the others, and from those that come after it. */
function refusedOf(thrown: unknown, key: string, after: readonly FileDocument[]): Fault {
  const { kind, message, at, remedy, cause } = Fault.from(thrown);
  const untried = after.length === 0 ? '' : ` Not tried: ${namesOf(after)}.`;
  return new Fault(kind, `${key}: ${message}`, { at, remedy: `${remedy}${untried}`, cause });
}

async function apply(cli: Cli, client: Client, documents: readonly FileDocument[]): Promise<void> {
  for (const [at, { key, text }] of documents.entries()) {
    const made = await client.call<Pool>('/pools', { method: 'POST', body: text }).catch((thrown) => {
      throw documents.length === 1 ? thrown : refusedOf(thrown, key, documents.slice(at + 1));
    });
    print(cli.terminal, `Pool ${made.name} applied, revision ${made.revision}.`);
  }
}

function applyCommand(cli: Cli): Command {
  const command = new Command('apply')
    .description('create or change pools from documents (YAML or JSON)')
    .argument('<files...>', 'files, each with one document or several, or - for stdin')
    .action(async (files: string[], _options, command: Command) => {
      const client = clientOf(cli, command);
      await apply(cli, client, await readDocuments(files, cli.terminal.input));
    });
  return withExamples(command, [
    ['muster pool apply gpu.yaml', 'from a file'],
    ['echo "name: mine" | muster pool apply -', 'a manual pool, from stdin'],
  ]);
}

function whyCommand(cli: Cli): Command {
  return showCommand<Why, { limit: number; at?: string }>(cli, {
    name: 'why',
    summary: 'explain the last decisions of a pool, newest first',
    of: '<name>',
    read: (client, name, { limit, at }) => client.call(`${path(name)}/why`, { query: { limit, at } }),
    text: whyText,
  })
    .option('-n, --limit <count>', 'number of decisions', whole('--limit', 1, 200), 10)
    .option('--at <time>', 'only the decision in force then: 2026-01-01T12:00 in UTC, or a duration back from now');
}

function pauseCommands(cli: Cli): Command[] {
  const verbs = [
    ['pause', 'pause a pool: it launches, removes and places nothing; its sessions go on', 'is paused'],
    ['resume', 'resume a paused pool', 'is resumed'],
  ] as const;
  return verbs.map(([verb, summary, done]) =>
    actCommand(cli, {
      name: verb,
      summary,
      of: '<name>',
      async act(client, name) {
        await client.call(`${path(name)}/${verb}`, { method: 'POST' });
        return `Pool ${name} ${done}.`;
      },
    }),
  );
}

interface ListOptions {
  readonly query?: string;
  readonly problem?: boolean;
  readonly order?: string;
}

function lsCommand(cli: Cli): Command {
  return listCommand<Pool, ListOptions>(cli, {
    summary: 'list pools',
    isLively: true,
    read: (client, { query: q, problem, order }) => client.list('/pools', { q, problem, order }),
    listing: () => poolListing,
  })
    .option('-q, --query <part>', 'only pools whose name contains this')
    .option(
      '--problem',
      'only pools that need somebody: in trouble, frozen, held, or with sessions that match no worker',
    )
    .addOption(
      new Option('--order <order>', 'what comes first (default: by name)').choices([
        'name',
        'queued',
        'dollars',
        'trouble',
      ]),
    );
}

function poolCommand(cli: Cli): Command {
  const pool = nounCommand('pool', 'pools of workers', [
    lsCommand(cli),
    showCommand<Pool>(cli, {
      name: 'show',
      summary: 'show one pool',
      of: '<name>',
      read: (client, name) => client.call(path(name)),
      text: poolFacts,
    }),
    whyCommand(cli),
    showCommand<Plan>(cli, {
      name: 'plan',
      summary: 'show what the pool would do next',
      of: '<name>',
      read: (client, name) => client.call(`${path(name)}/plan`),
      text: planText,
    }),
    ...pauseCommands(cli),
    shadowCommand(cli),
    applyCommand(cli),
    exportCommand(cli),
    actCommand(cli, {
      name: 'delete',
      summary: 'drain and remove a pool that was created with `pool apply` or the API',
      of: '<name>',
      async act(client, name) {
        await client.call(path(name), { method: 'DELETE' });
        return `Pool ${name} is being removed: its busy workers finish first.`;
      },
    }).alias('rm'),
  ]);
  return withExamples(pool, [
    ['muster pool ls -w', 'watch pools grow and shrink'],
    ['muster pool ls --problem', 'what needs somebody'],
    ['muster pool why local', 'what it did last, and why'],
    ['muster pool why local --at 2h', 'what it did two hours ago, and why'],
    ['muster pool plan local', 'what it would do next'],
    ['muster pool apply gpu.yaml', 'create or change a pool'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'pool', order: 30, make: poolCommand }];
