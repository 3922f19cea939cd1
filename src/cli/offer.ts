import type { Offer, OfferList } from '../api/wire/offer.ts';
import type { CliCommand } from './command.ts';
import { withExamples } from './example.ts';
import { listCommand, nounCommand } from './noun.ts';
import type { TableLayout } from './show.ts';
import { oneLine } from './table.ts';

/** `exhausted 3, quota 1`: the most frequent first. */
function refusedText({ refused }: Offer): string {
  const kinds = Object.entries(refused).toSorted(([, one], [, other]) => other - one);
  return kinds.map(([kind, count]) => `${kind} ${count}`).join(', ') || '0';
}

const MOST_POOLS = 3;

function poolsText({ pools }: Offer): string {
  const left = pools.length - MOST_POOLS;
  const named = pools.slice(0, MOST_POOLS).map(oneLine).join(', ');
  return left > 0 ? `${named} and ${left} more` : named || 'none now';
}

const listing: TableLayout<Offer> = {
  nothing: 'No offers: no pool has a backend, and no machine was launched.',
  columns: [
    { title: 'OFFER', value: ({ id }) => id },
    { title: 'BACKEND', value: ({ kind }) => kind ?? 'unknown' },
    { title: 'POOLS', value: poolsText },
    { title: 'LAUNCHES', value: ({ launches }) => launches, align: 'right' },
    { title: 'REFUSED', value: refusedText },
    { title: 'NEVER READY', value: ({ never_ready: count }) => count, align: 'right' },
    { title: 'STARTING', value: ({ starting }) => starting, align: 'right', isWide: true },
    { title: 'READY P50', value: ({ ready_p50: p50 = '-' }) => p50, align: 'right' },
    { title: 'P95', value: ({ ready_p95: p95 = '-' }) => p95, align: 'right' },
    { title: '$/H', value: ({ price_per_hour: price }) => price ?? '-', align: 'right' },
  ],
};

export const commands: readonly CliCommand[] = [
  {
    name: 'offer',
    order: 61,
    make(cli) {
      const ls = listCommand<Offer, { pool?: string; since: string }>(cli, {
        summary: 'list the backends of pools and what became of their launches, the most used first',
        read: async (client, { pool, since }) =>
          (await client.call<OfferList>('/offers', { query: { pool, since } })).items,
        listing: () => listing,
      })
        .option('-p, --pool <name>', 'only those of this pool')
        .option('--since <time>', 'count launches from then on: a duration back from now, or a time in UTC', '7d');
      const offer = nounCommand('offer', 'ways to get machines: launches, refusals, time to ready, price', [ls]);
      return withExamples(offer, [
        ['muster offer ls', 'the launches of the last seven days'],
        ['muster offer ls -p gpu --since 24h', 'of the backends of one pool, of the last day'],
      ]);
    },
  },
];
