import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { idsFrom } from '#core/id.ts';
import type { EndedMachine } from '#core/machine.ts';
import { append, type Change, put } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { recordsOfOffers } from '../foresight/offer-records.ts';
import { aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { OfferList } from './wire/offer.ts';

const NOW_MS = Date.parse('2026-11-15T12:00:00Z');
const gpu = poolWithSecret('gpu');
const spot = { ...poolWithSecret('spot'), id: 'p-spot' };
const other = { id: 'o2', kind: 'process', config: {} };
const offers = [...spot.spec.offers, other];
const pools = [gpu, { ...spot, spec: { ...spot.spec, offers, terms: { o2: { pricePerHour: 1.5 } } } }];

let made = 0;
function ended(offer: string, agoMs: number, more: Partial<EndedMachine> = {}): Change {
  const askedAt = NOW_MS - agoMs;
  const endedAt = askedAt + 10 * SECOND_MS;
  const id = `${idsFrom(endedAt)}${String(made++).padStart(9, '0')}`;
  const about = { machine: id, use: 'worker', owner: gpu.id, kind: 'process' } as const;
  return append('endedMachines', { id, ...about, offer, askedAt, endedAt, how: 'removed', ...more });
}
const ready = (offer: string, afterS: number): Change =>
  ended(offer, HOUR_MS, { createdAt: NOW_MS - HOUR_MS + 1, joinedAt: NOW_MS - HOUR_MS + afterS * SECOND_MS });
const refused = (kind: 'exhausted' | 'quota', agoMs = HOUR_MS): Change =>
  ended('o1', agoMs, { how: 'failed', fault: { kind, message: 'No.' } });

const rows = [
  ...pools.map((pool) => row('pools', pool)),
  ...[refused('exhausted'), refused('exhausted'), refused('quota'), refused('quota', 8 * DAY_MS)],
  ...Array.from({ length: 20 }, (_, at) => ready('o1', at + 1)),
  ended('o1', HOUR_MS, { how: 'failed', createdAt: NOW_MS - HOUR_MS + 5 }),
  ended('gone', HOUR_MS, { kind: 'vm' }),
  row('workers', aWorker('m-1', gpu.id, { offer: 'o2', askedAt: NOW_MS - SECOND_MS })),
  row('workers', aWorker('m-2', gpu.id, { offer: 'o2', askedAt: NOW_MS - 9 * SECOND_MS, joinedAt: NOW_MS })),
  put('offers', { id: 'o1', kind: 'process', config: {}, prices: [{ from: 0, perHour: 0.25 }] }),
];

async function world() {
  const { call, deps } = await apiWorld({ clock: new VirtualClock(NOW_MS), rows });
  const get = async (query = '') => (await call('GET', `/api/v1/offers${query}`, { as: 'viewer' })).json<OfferList>();
  return { get, deps };
}

it('counts launches, refusals by kind and the time to ready of each offer, the most used first', async () => {
  const { get } = await world();

  expect(await get()).toEqual({
    since: '2026-11-08T12:00:00.000Z',
    items: [
      {
        ...{ id: 'o1', kind: 'process', pools: ['gpu', 'spot'], launches: 24, starting: 0, never_ready: 1 },
        ...{ refused: { exhausted: 2, quota: 1 }, ready_p50: '10s', ready_p95: '19s', price_per_hour: 0.25 },
      },
      {
        ...{ id: 'o2', kind: 'process', pools: ['spot'], launches: 2, starting: 1, never_ready: 0 },
        ...{ refused: {}, ready_p50: '9s', ready_p95: '9s', price_per_hour: 1.5 },
      },
      { id: 'gone', kind: 'vm', pools: [], launches: 1, starting: 0, never_ready: 1, refused: {} },
    ],
  });
});

it('can be asked for one pool and since another time', async () => {
  const { get } = await world();

  expect((await get('?pool=gpu&since=10d')).items).toMatchObject([
    { id: 'o1', launches: 25, refused: { exhausted: 2, quota: 2 } },
  ]);
});

it('says since when it has counted, where there are more records than it reads', async () => {
  const { deps } = await world();
  const many = Array.from({ length: 600 }, (_, at) => ended('o1', at * SECOND_MS));
  await deps.store.commit(many);

  const { sinceMs, offers } = await recordsOfOffers(deps, { sinceMs: 0, mostEnded: 500 });

  expect(NOW_MS - sinceMs).toBe(489 * SECOND_MS);
  expect(offers.find(({ id }) => id === 'o1')?.launches).toBe(500);
});
