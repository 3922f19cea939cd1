import { Command } from 'commander';
import type { Source, SourceDocument } from '../api/wire/source.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { age, type Listing, show, showList } from './show.ts';
import { renderFacts, renderTable } from './table.ts';
import { print } from './terminal.ts';

const path = (id: string): string => `/sources/${encodeURIComponent(id)}`;

function listing(nowMs: number): Listing<Source> {
  return {
    nothing: 'No sources.',
    columns: [
      { title: 'NAME', value: (source) => source.id },
      { title: 'KIND', value: (source) => source.kind },
      { title: 'POOLS', value: (source) => source.pools, align: 'right' },
      { title: 'DOCUMENTS', value: (source) => source.documents, align: 'right' },
      { title: 'FAULTY', value: (source) => source.faulty_documents, align: 'right' },
      {
        title: 'SYNCED',
        value: (source) => (source.last_good_at ? `${age(Date.parse(source.last_good_at), nowMs)} ago` : 'never'),
      },
      { title: 'TROUBLE', value: (source) => source.held?.why ?? source.fault?.message ?? '' },
    ],
  };
}

const faultOf = ({ fault }: SourceDocument): string =>
  fault ? `${fault.place ? `${fault.place}: ` : ''}${fault.message}` : '';

function sourceFacts(source: Source, documents: readonly SourceDocument[]): string {
  const facts = renderFacts([
    ['Name', source.id],
    ['Kind', source.kind],
    ['Synced', source.last_good_at ?? 'never'],
    ['Trouble', source.fault && `${source.fault.kind}: ${source.fault.message}`],
    ['Held', source.held && `${source.held.why}; \`muster source approve ${source.id}\` lets it through`],
  ]);
  const table = renderTable(documents, [
    { title: 'KEY', value: (document) => document.key },
    { title: 'VERSION', value: (document) => document.version },
    { title: 'POOL', value: (document) => document.pool },
    { title: 'TROUBLE', value: faultOf },
  ]);
  return documents.length === 0 ? facts : `${facts}\n\n${table}`;
}

export function sourceCommand(cli: Cli): Command {
  const source = new Command('source').alias('sources').description('where pool definitions come from');

  source.addCommand(
    showing('ls', 'list sources')
      .alias('list')
      .action(async (_options, command: Command) => {
        const sources = await clientOf(cli, command).all<Source>('/sources');
        print(cli.terminal, showList(sources, formatOf(command), listing(cli.terminal.clock.now())));
      }),
  );
  source.addCommand(
    showing('show', 'show one source and its documents')
      .argument('<name>')
      .action(async (name: string, _options, command: Command) => {
        const client = clientOf(cli, command);
        const found = await client.call<Source>(path(name));
        const documents = await client.all<SourceDocument>(`${path(name)}/documents`);
        print(
          cli.terminal,
          show({ ...found, items: documents }, formatOf(command), () => sourceFacts(found, documents)),
        );
      }),
  );
  for (const [verb, summary, done] of [
    ['sync', 'read a source now', 'is being read'],
    ['approve', 'let a held removal through', 'may remove its pools'],
  ] as const) {
    source.addCommand(
      new Command(verb)
        .description(summary)
        .argument('<name>')
        .action(async (name: string, _options, command: Command) => {
          await clientOf(cli, command).call(`${path(name)}/${verb}`, { method: 'POST' });
          print(cli.terminal, `Source ${name} ${done}.`);
        }),
    );
  }
  return source;
}
