import { Command } from 'commander';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Source, SourceDocument, SourceSync } from '../api/wire/source.ts';
import { type Cli, type CliCommand, clientOf } from './command.ts';
import { actCommand, listCommand, nounCommand, showCommand } from './noun.ts';
import { named, whole } from './option.ts';
import { problemLines } from './problem-lines.ts';
import { ageOf, moment, type TableLayout } from './show.ts';
import { oneLine, renderFacts, renderTable } from './table.ts';
import { print } from './terminal.ts';

const path = (id: string): string => `/sources/${encodeURIComponent(id)}`;

const listing = (nowMs: number): TableLayout<Source> => ({
  nothing: 'No sources.',
  columns: [
    { title: 'NAME', value: (source) => source.id },
    { title: 'KIND', value: (source) => source.kind },
    { title: 'POOLS', value: (source) => source.pools, align: 'right' },
    { title: 'DOCUMENTS', value: (source) => source.documents, align: 'right' },
    { title: 'FAULTY', value: (source) => source.faulty_documents, align: 'right' },
    { title: 'SYNCED', value: ({ last_good_at: at }) => (at ? `${ageOf(at, nowMs)} ago` : 'never') },
    { title: 'TOOK', value: (source) => source.duration, align: 'right' },
    { title: 'EVERY', value: (source) => source.every, align: 'right', isWide: true },
    { title: 'PLACE', value: ({ place }) => place && oneLine(place), isWide: true },
    {
      title: 'TROUBLE',
      value: ({ held, fault }) =>
        oneLine(held ? `removal of ${held.keys.length} held: ${held.why}` : (fault?.message ?? '')),
    },
  ],
});

const problemsOf = ({ fault }: SourceDocument): readonly string[] => (fault ? problemLines(fault) : []);

/** In a column there is room for one; all of them follow below. */
function troubleOf(document: SourceDocument): string {
  const [first = '', ...others] = problemsOf(document);
  return others.length === 0 ? first : `${first} (and ${others.length} more)`;
}

const problemRows = (document: SourceDocument): readonly string[] =>
  problemsOf(document).map((line) => `${oneLine(document.key)}: ${line}`);

/** A source with its documents. */
type Whole = Source & { readonly items: readonly SourceDocument[] };

const heldText = ({ id, held }: Source): string | undefined =>
  held &&
  `${oneLine(held.why)} The pools go on as defined. \`muster source approve ${id} --pools ${held.keys.length}\` removes them.`;

function syncedText({ last_good_at: at, duration }: Source): string {
  if (!at) return 'never';
  return duration === undefined ? moment(at) : `${moment(at)}, in ${duration}`;
}

function documentsText(source: Source): string {
  const { documents, faulty_documents: faulty, missing_documents: missing } = source;
  const troubled = [...(faulty > 0 ? [`${faulty} refused`] : []), ...(missing > 0 ? [`${missing} missing`] : [])];
  return [`${documents} for ${source.pools} pools`, ...troubled].join(', ');
}

/** One line: a pool on such a backend has no price unless its document sets one. */
function pricesText({ without_prices: rows = [] }: Source): string | undefined {
  if (rows.length === 0) return undefined;
  const kinds = rows.map(({ backend, pools }) => `${backend} (${pools} ${pools === 1 ? 'pool' : 'pools'})`);
  return `none from ${kinds.join(', ')}; set price_per_hour under backends`;
}

function sourceFacts(source: Whole): string {
  const { fault, items, last_tried_at: tried } = source;
  const facts = renderFacts([
    ['Name', source.id],
    ['Kind', source.kind],
    ['Place', source.place && oneLine(source.place)],
    ['Read every', source.every],
    ['Synced', syncedText(source)],
    ...(source.notes ?? []).map((note): [string, string] => ['Note', oneLine(note)]),
    ['Tried', source.failures > 0 && tried ? `${moment(tried)}, ${source.failures} failures in a row` : undefined],
    ['Trouble', fault && oneLine(`${fault.kind}: ${fault.message} ${fault.remedy ?? ''}`)],
    ['Documents', documentsText(source)],
    ['Prices', pricesText(source)],
    ['Held', heldText(source)],
  ]);
  const table = renderTable(items, [
    { title: 'KEY', value: (document) => oneLine(document.key) },
    { title: 'TEAM', value: ({ team }) => team && oneLine(team) },
    { title: 'VERSION', value: (document) => oneLine(document.version) },
    { title: 'SINCE', value: ({ read_at: at }) => at && moment(at) },
    { title: 'POOL', value: (document) => document.pool },
    { title: 'TROUBLE', value: troubleOf },
  ]);
  const several = items.filter((document) => problemsOf(document).length > 1).flatMap(problemRows);
  return [facts, ...(items.length > 0 ? [table] : []), ...(several.length > 0 ? [several.join('\n')] : [])].join(
    '\n\n',
  );
}

const listed = (what: string, names: readonly string[]): string =>
  names.length === 0 ? '' : ` ${what}: ${names.join(', ')}.`;

/** What came of a sync, in one line, and each problem in one more. */
export function outcomeText(source: SourceSync, faulty: readonly SourceDocument[]): string {
  const { id, outcome, held } = source;
  if (!outcome) return `Reading source ${id}.`;
  const { documents, read, missing, created, changed, removing, waiting } = outcome;
  const pools = listed('Created', created) + listed('Changed', changed) + listed('Being removed', removing);
  const gaps = missing > 0 ? `, ${missing} missing` : '';
  const head = `Source ${id} was read: ${documents} documents, ${read} new or changed${gaps}.`;
  const kept = held ? [`Held: ${outcome.held.join(', ')}. ${heldText(source)}`] : [];
  const byReason = Map.groupBy(waiting, ({ why }) => why);
  const waits = [...byReason].map(
    ([why, rows]) => `Waiting: ${rows.map(({ pool }) => pool).join(', ')}. ${oneLine(why)}`,
  );
  return [`${head}${pools || ' No pool changed.'}`, ...faulty.flatMap(problemRows), ...kept, ...waits].join('\n');
}

function syncCommand(cli: Cli): Command {
  return new Command('sync')
    .description('sync a source now and print the result; exits with 2 if a document is refused')
    .argument('<name>', undefined, named('<name>'))
    .option('--no-wait', 'do not wait for the result')
    .action(async (name: string, { wait }: { wait: boolean }, command: Command) => {
      const client = clientOf(cli, command);
      const query = { wait: wait || undefined };
      const source = await client.call<SourceSync>(`${path(name)}/sync`, { method: 'POST', query });
      const { fault } = source.outcome ?? {};
      if (fault) throw new Fault(fault.kind, fault.message, { remedy: fault.remedy });
      const isFaulty = source.outcome !== undefined && source.faulty_documents > 0;
      const faulty = isFaulty ? await client.list<SourceDocument>(`${path(name)}/documents`, { faulty: true }) : [];
      print(cli.terminal, outcomeText(source, faulty));
      if (faulty.length > 0) cli.exitWith(FAULTS.invalid.exit);
    });
}

function approveCommand(cli: Cli): Command {
  return actCommand<{ pools?: number }>(cli, {
    name: 'approve',
    summary: 'approve a held removal of pools',
    of: '<name>',
    async act(client, name, { pools }) {
      await client.call(`${path(name)}/approve`, { method: 'POST', query: { pools } });
      return `Removal approved for source ${name}.`;
    },
  }).option('--pools <count>', 'approve only if this many pools are held (see `source show`)', whole('--pools', 0));
}

function sourceCommand(cli: Cli): Command {
  return nounCommand('source', 'where pool definitions come from', [
    listCommand<Source>(cli, {
      summary: 'list sources',
      isLively: true,
      read: (client) => client.list('/sources'),
      listing,
    }),
    showCommand<Whole>(cli, {
      name: 'show',
      summary: 'show one source and its documents',
      of: '<name>',
      read: async (client, name) => ({
        ...(await client.call<Source>(path(name))),
        items: await client.list<SourceDocument>(`${path(name)}/documents`),
      }),
      text: sourceFacts,
    }),
    syncCommand(cli),
    approveCommand(cli),
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'source', order: 80, make: sourceCommand }];
