import { styleText } from 'node:util';
import { Command } from 'commander';
import type { Event } from '../api/wire/event.ts';
import type { Client } from './client.ts';
import { type Cli, clientOf, formatOf, showing } from './command.ts';
import { patiently } from './follow.ts';
import { type Listing, showList } from './show.ts';
import { print } from './terminal.ts';

const listing: Listing<Event> = {
  nothing: 'No events.',
  columns: [
    { title: 'AT', value: (event) => event.at },
    { title: 'KIND', value: (event) => event.kind },
    { title: 'SUBJECT', value: (event) => event.subject },
    { title: 'WHO', value: (event) => event.who },
    { title: 'MESSAGE', value: (event) => event.message },
  ],
};

const FOLLOW_EVERY_MS = 500;

interface Filter {
  readonly pool?: string;
  readonly kind?: string;
  readonly limit: string;
}

async function newest(client: Client, { pool, kind, limit }: Filter): Promise<Event[]> {
  const page = await client.call<{ items: Event[] }>('/events', { query: { pool, kind, limit, order: 'newest' } });
  return page.items.toReversed();
}

async function follow(cli: Cli, client: Client, filter: Filter): Promise<void> {
  let events = await newest(client, filter);
  let last: string | undefined;
  while (!cli.signal.aborted) {
    for (const event of events) {
      print(
        cli.terminal,
        `${styleText('dim', event.at)}  ${styleText('bold', event.kind)}  ${event.subject}  ${event.message}`,
      );
      last = event.id;
    }
    await cli.terminal.clock.sleep(FOLLOW_EVERY_MS, cli.signal);
    const query = { pool: filter.pool, kind: filter.kind, after: last, order: 'oldest', limit: 1_000 };
    events = (await patiently(cli, () => client.call<{ items: Event[] }>('/events', { query }))).items;
  }
}

export function eventCommand(cli: Cli): Command {
  const event = new Command('event').alias('events').description('what happened, who caused it and from where');

  event.addCommand(
    showing('ls', 'list events, newest last')
      .alias('list')
      .option('-p, --pool <name>', 'only of this pool')
      .option('-k, --kind <kind>', 'only of this kind, for example worker.lost')
      .option('-n, --limit <count>', 'at most this many', '50')
      .option('-f, --follow', 'show new ones until interrupted')
      .action(async (options: Filter & { follow?: boolean }, command: Command) => {
        const client = clientOf(cli, command);
        if (options.follow) return follow(cli, client, options);
        print(cli.terminal, showList(await newest(client, options), formatOf(command), listing));
      }),
  );
  return event;
}
