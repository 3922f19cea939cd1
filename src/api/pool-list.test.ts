import { describe, expect, it } from 'vitest';
import { aSession, aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { PoolList } from './wire/pool.ts';

const at = Date.UTC(2026, 0, 1);
const [a, b, c, d] = ['team-a', 'Team-B', 'other', 'd'].map((name) => poolWithSecret(name)) as [
  ReturnType<typeof poolWithSecret>,
  ReturnType<typeof poolWithSecret>,
  ReturnType<typeof poolWithSecret>,
  ReturnType<typeof poolWithSecret>,
];

async function listed() {
  const world = await apiWorld({
    rows: [
      ...[a, b].map((pool) => row('pools', pool)),
      row('pools', { ...c, spec: { ...c.spec, labels: { trouble: 'No quota.' } } }),
      row('pools', d),
      row('freezes', { id: d.id, at, why: 'by hand', by: 'x', automatic: false }),
      row('sessions', aSession('s1', b)),
      row('sessions', aSession('s2', b)),
      row('sessions', aSession('s3', d)),
      row('workers', aWorker('m1', a.id, { pricePerHour: 2 })),
      row('workers', aWorker('m2', c.id, { pricePerHour: 0.5 })),
      row('workers', aWorker('m3', c.id)),
    ],
  });
  const list = async (query: string) => {
    const { items, next } = (await world.call('GET', `/api/v1/pools?${query}`)).json<PoolList>();
    return { names: items.map(({ name }) => name), items, next };
  };
  return { ...world, list };
}

describe('GET /pools', () => {
  it.each([
    ['q=TEAM-', ['Team-B', 'team-a']],
    ['q=th', ['other']],
    ['q=nothing', []],
    ['problem', ['d', 'other']],
    ['problem=true&q=O', ['other']],
    ['order=queued', ['Team-B', 'd', 'other', 'team-a']],
    ['order=dollars', ['team-a', 'other', 'Team-B', 'd']],
    ['order=trouble', ['d', 'other', 'Team-B', 'team-a']],
    ['order=name', ['Team-B', 'd', 'other', 'team-a']],
  ])('with %s lists %j', async (query, names) => {
    const { list } = await listed();

    expect((await list(query)).names).toEqual(names);
  });

  it.each(['name', 'queued', 'dollars', 'trouble'])('gives every pool once on pages by %s', async (order) => {
    const { list } = await listed();
    const whole = (await list(`order=${order}`)).names;

    const names: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`;
      const page = await list(`order=${order}&limit=1${after}`);
      names.push(...page.names);
      next = page.next;
    }

    expect(names).toEqual(whole);
  });

  it('shows what the machines of each pool cost an hour, and how many have no known price', async () => {
    const { list } = await listed();

    const { items } = await list('q=other');

    expect(items[0]).toMatchObject({ dollars_per_hour: 0.5, machines_without_price: 1 });
  });

  it('refuses an order that there is none of, and says which there are', async () => {
    const { call } = await listed();

    const answer = await call('GET', '/api/v1/pools?order=size');

    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ at: 'query.order', detail: expect.stringContaining('queued') });
  });
});
