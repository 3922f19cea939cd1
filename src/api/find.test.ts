import { expect, it } from 'vitest';
import { anAgent, aSession, aWorker, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { Found } from './wire/find.ts';

const gpu = poolWithSecret('gpu');

async function findIn(names: readonly string[], words: string) {
  const { call } = await apiWorld({
    rows: [
      row('pools', gpu),
      ...names.map((name) => row('pools', poolWithSecret(name))),
      row('workers', aWorker('m-gpu-1', gpu.id)),
      row('agents', anAgent('m-gpu-1', gpu.id)),
      row('sessions', aSession('s1', gpu, { name: 'train-gpu' })),
    ],
  });
  const answer = await call('GET', `/api/v1/find?${new URLSearchParams({ q: words })}`, { as: 'viewer' });
  return answer.json<Found>().items;
}

it('what has that name comes first, then names that begin so, then names that hold it, of all kinds', async () => {
  const items = await findIn(['big-gpu', 'gpu-large', 'cpu'], 'Gpu');

  expect(items.map(({ kind, name, link }) => [kind, name, link])).toEqual([
    ['pool', 'gpu', '/pools/gpu'],
    ['pool', 'gpu-large', '/pools/gpu-large'],
    ['pool', 'big-gpu', '/pools/big-gpu'],
    ['worker', 'm-gpu-1', '/workers/m-gpu-1'],
    ['session', 'train-gpu', '/sessions/s1'],
  ]);
});

it('a session is found by its id', async () => {
  expect((await findIn([], 's1')).map(({ kind, name }) => [kind, name])).toEqual([['session', 'train-gpu']]);
});

it('at most twenty are found, however many there are', async () => {
  const many = Array.from({ length: 50 }, (_, at) => `team-${at}`);

  expect(await findIn(many, 'team')).toHaveLength(20);
});

it('without words nothing is found', async () => {
  expect(await findIn([], '')).toEqual([]);
});
