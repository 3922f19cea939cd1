import type { Command } from 'commander';
import type { Source, SourceDocument } from '../api/wire/source.ts';
import type { Cli } from './command.ts';
import { actCommand, listCommand, nounCommand, showCommand } from './noun.ts';
import { ageOf, type Listing, moment } from './show.ts';
import { renderFacts, renderTable } from './table.ts';

const path = (id: string): string => `/sources/${encodeURIComponent(id)}`;

const listing = (nowMs: number): Listing<Source> => ({
  nothing: 'No sources.',
  columns: [
    { title: 'NAME', value: (source) => source.id },
    { title: 'KIND', value: (source) => source.kind },
    { title: 'POOLS', value: (source) => source.pools, align: 'right' },
    { title: 'DOCUMENTS', value: (source) => source.documents, align: 'right' },
    { title: 'FAULTY', value: (source) => source.faulty_documents, align: 'right' },
    { title: 'SYNCED', value: ({ last_good_at: at }) => (at ? `${ageOf(at, nowMs)} ago` : 'never') },
    { title: 'TROUBLE', value: (source) => source.held?.why ?? source.fault?.message ?? '' },
  ],
});

const faultOf = ({ fault }: SourceDocument): string =>
  fault ? `${fault.place ? `${fault.place}: ` : ''}${fault.message}` : '';

/** A source with its documents. */
type Whole = Source & { readonly items: readonly SourceDocument[] };

function sourceFacts(source: Whole): string {
  const { fault, held, items, last_good_at: syncedAt } = source;
  const facts = renderFacts([
    ['Name', source.id],
    ['Kind', source.kind],
    ['Read every', source.every],
    ['Synced', syncedAt ? moment(syncedAt) : 'never'],
    ['Trouble', fault && `${fault.kind}: ${fault.message}`],
    ['Held', held && `${held.why}; \`muster source approve ${source.id}\` lets it through`],
  ]);
  const table = renderTable(items, [
    { title: 'KEY', value: (document) => document.key },
    { title: 'VERSION', value: (document) => document.version },
    { title: 'POOL', value: (document) => document.pool },
    { title: 'TROUBLE', value: faultOf },
  ]);
  return items.length === 0 ? facts : `${facts}\n\n${table}`;
}

function verbs(cli: Cli): Command[] {
  const known = [
    ['sync', 'read a source now', 'is being read'],
    ['approve', 'let a held removal through', 'may remove its pools'],
  ] as const;
  return known.map(([verb, summary, done]) =>
    actCommand(cli, {
      name: verb,
      summary,
      of: '<name>',
      async act(client, name) {
        await client.call(`${path(name)}/${verb}`, { method: 'POST' });
        return `Source ${name} ${done}.`;
      },
    }),
  );
}

export function sourceCommand(cli: Cli): Command {
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
    ...verbs(cli),
  ]);
}
