import { expect, it } from 'vitest';
import type { OfferList } from '../api/wire/offer.ts';
import { openScene } from './testing.ts';

const offers: OfferList = {
  since: '2026-01-01T00:00:00.000Z',
  items: [
    {
      ...{ id: 'o1', kind: 'aws_launch_template', pools: ['a', 'b', 'c', 'd', 'e'], launches: 12, starting: 1 },
      ...{ refused: { quota: 1, exhausted: 3 }, never_ready: 2 },
      ...{ ready_p50: '40s', ready_p95: '1m30s', price_per_hour: 0.5 },
    },
    { id: 'o2', pools: [], launches: 1, starting: 1, refused: {}, never_ready: 0 },
  ],
};

it('shows what became of the launches of each offer', async () => {
  const { muster, asked, output } = openScene(() => offers);
  await muster('offer', 'ls', '-p', 'gpu');

  expect(asked.map(({ path, query }) => [path, query])).toEqual([['/offers', { pool: 'gpu', since: '7d' }]]);
  expect(output()).toBe(`\
OFFER  BACKEND              POOLS               LAUNCHES  REFUSED               NEVER READY  READY P50    P95  $/H
o1     aws_launch_template  a, b, c and 2 more        12  exhausted 3, quota 1            2        40s  1m30s  0.5
o2     unknown              none now                   1  0                               0          -      -    -
`);
});
