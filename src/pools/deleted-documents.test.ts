import { expect, it } from 'vitest';
import { drop, put } from '#core/store.ts';
import { listener } from './testing/listener.ts';
import { fakeSource, opened, openWorld, outage, text, type World } from './testing/world.ts';

/** A session that keeps a pool from being gone. */
async function occupy(world: World, pool: string): Promise<void> {
  await world.store.commit([put('sessions', { id: `s-${pool}`, pool: world.pool(pool)?.id } as never)]);
}

async function release(world: World, pool: string): Promise<void> {
  await world.store.commit([drop('sessions', `s-${pool}`)]);
  await world.clock.settle();
}

const removalOf = (world: World, pool: string) => world.pool(pool)?.removal;

it('drains both of two pools that their writer deleted, while another source fails, and says when each is gone', async () => {
  const source = listener({ a: text('a'), b: text('b') });
  const broken = fakeSource();
  broken.fault = outage();
  const world = await openWorld([opened('kube', source), opened('broken', broken)]);
  await occupy(world, 'a');
  await occupy(world, 'b');
  await world.clock.advance(2_000);
  source.reported();

  source.markDeleted('a');
  source.markDeleted('b');
  source.hint();
  await world.clock.settle();
  const whys = [removalOf(world, 'a')?.why, removalOf(world, 'b')?.why];
  await world.clock.advance(1_000);
  const draining = source.reported();
  await release(world, 'a');
  const first = source.reported().at(-1);
  await release(world, 'b');

  expect(whys).toEqual(['Deleted in source "kube" (document "a").', 'Deleted in source "kube" (document "b").']);
  expect(draining).toEqual([
    ['a', 'removing', 'a'],
    ['b', 'removing', 'b'],
  ]);
  expect([first, source.reported().at(-1)]).toEqual([
    ['a', 'gone'],
    ['b', 'gone'],
  ]);
  expect(world.source('kube')?.held).toBeUndefined();
});

it('says gone after a restart where the process ended between the end of the pool and the report', async () => {
  const before = listener({ a: text('a') });
  const first = await openWorld([opened('kube', before)]);
  await occupy(first, 'a');
  before.fails = true;
  before.markDeleted('a');
  await first.list('kube');
  await release(first, 'a');
  await first.stop();

  const after = listener({ a: text('a') });
  after.markDeleted('a');
  const second = await openWorld([opened('kube', after)], first);

  expect([first.pool('a'), before.reported()]).toEqual([undefined, [['a', 'manual', 'a']]]);
  expect(after.reported()).toEqual([['a', 'gone']]);
  expect(second.document('kube', 'a')).toBeUndefined();
});

it('goes on draining after a restart, and says gone at the end', async () => {
  const source = listener({ a: text('a') });
  const first = await openWorld([opened('kube', source)]);
  await occupy(first, 'a');
  source.markDeleted('a');
  await first.list('kube');
  await first.stop();
  source.reported();

  const second = await openWorld([opened('kube', source)], first);
  const draining = source.reported();
  await release(second, 'a');

  expect(draining).toEqual([['a', 'removing', 'a']]);
  expect(source.reported()).toEqual([['a', 'gone']]);
});

it('says gone once, and again for another deletion under the same key', async () => {
  const source = listener({ a: text('a') });
  const world = await openWorld([opened('kube', source)]);
  source.markDeleted('a');
  await world.list('kube');
  await world.intervals(3);
  const once = source.reported().filter(([, status]) => status === 'gone');
  source.put('a', text('a'));
  await world.list('kube');
  const isBack = world.pool('a') !== undefined;
  source.markDeleted('a');
  await world.list('kube');

  expect(once).toEqual([['a', 'gone']]);
  expect(isBack).toBe(true);
  expect(source.reported().filter(([, status]) => status === 'gone')).toEqual([['a', 'gone']]);
});

it('says gone at once of a document that never formed a pool', async () => {
  const source = listener({ a: text('a'), bad: '{' });
  const world = await openWorld([opened('kube', source)]);
  source.reported();

  source.markDeleted('bad');
  await world.list('kube');

  expect(source.reported()).toEqual([['bad', 'gone']]);
  expect(world.document('kube', 'bad')).toBeUndefined();
});

it('removes the pool of a deleted document that had gone bad, and one that it had named before', async () => {
  const source = listener({ a: text('a'), b: text('b') });
  const world = await openWorld([opened('kube', source)]);
  source.put('a', '{');
  source.put('b', text('other'));
  await world.list('kube');
  await occupy(world, 'a');
  await occupy(world, 'b');

  source.markDeleted('a');
  source.markDeleted('b');
  await world.list('kube');

  expect([removalOf(world, 'a'), removalOf(world, 'b')]).toEqual([expect.anything(), expect.anything()]);
  expect(world.pool('other')).toBeUndefined();
});

it('lets another source that defines the pool have it, and tells the writer who deleted it that it is gone', async () => {
  const source = listener({ a: text('a') });
  const world = await openWorld([opened('kube', source), opened('files', fakeSource({ mine: text('a') }))]);
  await occupy(world, 'a');
  source.reported();

  source.markDeleted('a');
  await world.list('kube');

  expect(world.pool('a')).toMatchObject({ owner: { source: 'files', key: 'mine' } });
  expect(removalOf(world, 'a')).toBeUndefined();
  expect(source.reported()).toEqual([['a', 'gone']]);
});

it('foresees the removal of what was deleted, however much it is', async () => {
  const source = listener({ a: text('a'), b: text('b'), c: text('c'), d: text('d') });
  const world = await openWorld([opened('kube', source)]);
  for (const key of ['a', 'b', 'c', 'd']) source.markDeleted(key);

  const { pools } = await world.pools.foreseeSync('kube', new AbortController().signal);

  expect(pools.map(({ name, change }) => [name, change])).toEqual(['a', 'b', 'c', 'd'].map((name) => [name, 'remove']));
  expect([world.pool('a') !== undefined, removalOf(world, 'a')]).toEqual([true, undefined]);
});

it('does not wait for busy workers where the deletion is forced, also when the drain has begun', async () => {
  const source = listener({ a: text({ name: 'a', drainMs: 60_000 }), b: text({ name: 'b', drainMs: 60_000 }) });
  const world = await openWorld([opened('kube', source)]);
  await occupy(world, 'a');
  await occupy(world, 'b');
  source.markDeleted('a', { isForced: true });
  source.markDeleted('b');
  await world.list('kube');
  const deadlines = ['a', 'b'].map((pool) => (removalOf(world, pool)?.deadlineAt ?? 0) - world.clock.now());

  source.markDeleted('b', { isForced: true });
  await world.list('kube');

  expect(deadlines).toEqual([0, 60_000]);
  expect(removalOf(world, 'b')?.deadlineAt).toBe(world.clock.now());
});
