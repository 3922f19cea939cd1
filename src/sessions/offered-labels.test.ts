import { describe, expect, test } from 'vitest';
import { aPool, OFFER } from '#core/testing/pool.ts';
import { openScene, poolRow, type Scene, workerRow } from './testing/scene.ts';

const demandOf = ({ store }: Scene, pool = 'gpu'): number =>
  store.view.sessions.count('queue', pool) - store.view.sessions.count('unmatched', pool);

async function withAgents(...labels: readonly Record<string, string>[]): Promise<Scene> {
  const scene = await openScene();
  await scene.pool('gpu');
  for (const [at, own] of labels.entries()) await scene.join(`m-${at}`, { labels: own, slots: 0 });
  return scene;
}

describe('a session that asks for a label', () => {
  test('is demand while no agent of its pool has been seen: one may bring the label', async () => {
    const scene = await withAgents();

    const { unmatched } = await scene.submit({ labels: { gpu: 'h100' } });

    expect(unmatched).toBeUndefined();
    expect(demandOf(scene)).toBe(1);
  });

  test('that the agents of its pool do not have is no demand, and its caller learns so', async () => {
    const scene = await withAgents({ disk: 'fast' });

    const { unmatched } = await scene.submit({ labels: { gpu: 'h100', disk: 'fast' } });

    expect(unmatched).toBe('gpu=h100');
    expect(demandOf(scene)).toBe(0);
  });

  test('is no demand any more once the first agent has come without it', async () => {
    const scene = await withAgents();
    const { id } = await scene.submit({ labels: { gpu: 'h100' } });
    const plain = await scene.submit();

    await scene.join('m-1', { slots: 0 });

    expect(scene.now(id)?.unmatched).toBe('gpu=h100');
    expect(scene.now(plain.id)?.unmatched).toBeUndefined();
    expect(demandOf(scene)).toBe(1);
  });

  test('stays no demand when all agents have gone', async () => {
    const scene = await withAgents({});
    await scene.gone('m-0');

    expect((await scene.submit({ labels: { gpu: 'h100' } })).unmatched).toBe('gpu=h100');
  });

  test('is placed as soon as an agent with it joins after all', async () => {
    const scene = await withAgents({});
    const { id } = await scene.submit({ labels: { gpu: 'h100' } });

    await scene.join('m-1', { labels: { gpu: 'h100' } });

    expect(scene.now(id)).toMatchObject({ worker: 'm-1' });
    expect(scene.now(id)?.unmatched).toBeUndefined();
  });

  test('that is among those of the pool is demand', async () => {
    const scene = await withAgents({});
    await scene.change('pools', aPool({}, { name: 'gpu', labels: { gpu: 'h100' } }, { id: 'gpu' }));

    expect((await scene.submit({ labels: { gpu: 'h100' } })).unmatched).toBeUndefined();
  });

  test('becomes demand when its pool gets the label', async () => {
    const scene = await withAgents({});
    const { id } = await scene.submit({ labels: { gpu: 'h100' } });

    await scene.change('pools', aPool({}, { name: 'gpu', labels: { gpu: 'h100' } }, { id: 'gpu', revision: 2 }));

    expect(scene.now(id)?.unmatched).toBeUndefined();
    expect(demandOf(scene)).toBe(1);
  });

  test('in which the agents differ is demand: the next one may bring another value', async () => {
    const scene = await withAgents({ zone: 'a' }, { zone: 'b' });

    expect((await scene.submit({ labels: { zone: 'c' } })).unmatched).toBeUndefined();
  });

  test('is demand until an agent of every offer has been seen', async () => {
    const other = { ...OFFER, id: 'shape2' };
    const scene = await withAgents({});
    const spec = { ...poolRow('gpu').spec, offers: [OFFER, other] };
    await scene.pool('gpu', { spec });
    const { id, unmatched } = await scene.submit({ labels: { gpu: 'h100' } });

    await scene.change('workers', { ...workerRow('m-9', 'gpu'), offer: other.id });
    await scene.join('m-9', { slots: 0 });

    expect(unmatched).toBeUndefined();
    expect(scene.now(id)?.unmatched).toBe('gpu=h100');
  });
});

test('thousands that wait are looked through in slices', async () => {
  const scene = await withAgents();
  const spec = {
    command: ['true'],
    env: {},
    stdin: false,
    priority: 0,
    labels: { gpu: 'h100' },
    graceMs: 0,
    retries: 0,
  };
  await scene.sessions.submit(
    Array.from({ length: 1_200 }, () => ({ pool: 'gpu', spec })),
    { who: 'me', from: 'here' },
  );

  await scene.join('m-0', { slots: 0 });
  await scene.clock.advance(1_000);

  expect(demandOf(scene)).toBe(0);
});
