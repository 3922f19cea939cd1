import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { Event } from '../api/wire/event.ts';
import type { Client } from './client.ts';
import { type Cli, type CliCommand, clientOf, formatOf, showing } from './command.ts';
import { withExamples } from './example.ts';
import { nounCommand } from './noun.ts';
import { whole } from './option.ts';
import { patiently } from './patience.ts';
import { type Format, moment, showList, type TableLayout } from './show.ts';
import { oneLine } from './table.ts';
import { print } from './terminal.ts';

const listing: TableLayout<Event> = {
  nothing: 'No events.',
  columns: [
    { title: 'AT', value: (event) => moment(event.at) },
    { title: 'KIND', value: (event) => event.kind },
    { title: 'SUBJECT', value: (event) => oneLine(event.subject) },
    { title: 'WHO', value: (event) => oneLine(event.who) },
    { title: 'MESSAGE', value: (event) => oneLine(event.message) },
  ],
};

const FOLLOW_EVERY_MS = 500;

interface Filter {
  readonly pool?: string;
  readonly kind?: string;
  readonly subject?: string;
}

interface ListOptions extends Filter {
  readonly limit: number;
  readonly follow?: boolean;
}

async function newest(client: Client, { pool, kind, subject, limit }: ListOptions): Promise<Event[]> {
  const events = await client.list<Event>('/events', { pool, kind, subject, order: 'newest' }, limit);
  return events.toReversed();
}

/** One event as one line; in the other formats as one document. */
function line(event: Event, format: Format): string {
  if (format === 'json') return JSON.stringify(event);
  if (format === 'yaml') return `---\n${showList([event], format, listing)}`;
  const { at, kind } = event;
  const [subject, who, message] = [event.subject, event.who, event.message].map(oneLine);
  return `${styleText('dim', moment(at))}  ${styleText('bold', kind)}  ${subject}  ${styleText('dim', who ?? '')}  ${message}`;
}

async function follow(cli: Cli, client: Client, options: ListOptions & { format: Format }): Promise<void> {
  const { pool, kind, subject, format } = options;
  let events = await newest(client, options);
  let after: string | undefined;
  while (!cli.signal.aborted) {
    for (const event of events) print(cli.terminal, line(event, format));
    after = events.at(-1)?.id ?? after;
    await cli.terminal.clock.sleep(FOLLOW_EVERY_MS, cli.signal);
    const query = { pool, kind, subject, after, order: 'oldest', limit: 1_000 };
    const page = await patiently(cli, () => client.call<{ items: Event[] }>('/events', { query, signal: cli.signal }));
    events = page.items;
  }
}

function listCommand(cli: Cli): Command {
  return showing('ls', 'list events, newest last')
    .alias('list')
    .option('-p, --pool <name>', 'only events of this pool')
    .option('-k, --kind <kind>', 'only events of this kind, for example worker.lost')
    .option('-s, --subject <subject>', 'only events about this subject, for example worker/NAME')
    .option('-n, --limit <count>', 'largest number of events', whole('--limit', 1), 50)
    .option('-f, --follow', 'print new events until Ctrl-C')
    .action(async (options: ListOptions, command: Command) => {
      const client = clientOf(cli, command);
      const format = formatOf(command);
      if (options.follow) return follow(cli, client, { ...options, format });
      print(cli.terminal, showList(await newest(client, options), format, listing));
    });
}

function eventCommand(cli: Cli): Command {
  const event = nounCommand('event', 'events: what happened, and who caused it', [listCommand(cli)]);
  return withExamples(event, [
    ['muster event ls -f', 'new events until Ctrl-C'],
    ['muster event ls -k worker.lost -n 5', 'the last five losses'],
  ]);
}

export const commands: readonly CliCommand[] = [{ name: 'event', order: 70, make: eventCommand }];
