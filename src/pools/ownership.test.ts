import { expect, it } from 'vitest';
import { EVERY_MS, fakeSource, opened, openWorld, outage, text } from './testing/world.ts';

it('lets the first owner stay, and reports a second definition on both documents', async () => {
  const first = fakeSource({ x: text({ name: 'gpu', max: 1 }) });
  const second = fakeSource();
  const world = await openWorld([opened('one', first), opened('two', second)]);

  second.put('y', text({ name: 'gpu', max: 99 }));
  await world.intervals(5);

  expect(world.pool('gpu')).toMatchObject({ revision: 1, owner: { source: 'one', key: 'x' } });
  expect(world.document('one', 'x')?.fault).toMatchObject({ kind: 'conflict' });
  expect(world.document('one', 'x')?.fault?.message).toContain('source "two" (document "y")');
  expect(world.document('two', 'y')?.fault).toMatchObject({ kind: 'conflict' });
  expect(world.document('two', 'y')?.fault?.message).toContain('source "one" (document "x")');
  expect(world.document('two', 'y')?.pool).toBeUndefined();
  expect(world.events('pool.conflict')).toHaveLength(1);
});

it('still applies changes of the owner while there is a conflict', async () => {
  const first = fakeSource({ x: text('gpu') });
  const world = await openWorld([opened('one', first), opened('two', fakeSource({ y: text('gpu') }))]);

  first.put('x', text({ name: 'gpu', max: 8 }));
  await world.intervals();

  expect(world.pool('gpu')?.spec.scaling.maxAgents).toBe(8);
});

it('clears the report on both when the second definition goes', async () => {
  const second = fakeSource({ y: text('gpu') });
  const world = await openWorld([opened('one', fakeSource({ x: text('gpu') })), opened('two', second)]);

  second.remove('y');
  await world.intervals();

  expect(world.document('one', 'x')?.fault).toBeUndefined();
  expect(world.document('two', 'y')).toBeUndefined();
});

it('clears the report also when the second definition went while its source was opened anew', async () => {
  const world = await openWorld([
    opened('one', fakeSource({ x: text('gpu') })),
    opened('two', fakeSource({ y: text('gpu') })),
  ]);
  const [one] = [opened('one', fakeSource({ x: text('gpu') }))];
  world.pools.setSources([one, opened('two', fakeSource({ y: text('gpu') }))]);
  await world.intervals();
  expect(world.document('one', 'x')?.fault).toBeDefined();

  world.pools.setSources([one, opened('two', fakeSource())]);
  await world.clock.settle();

  expect(world.document('one', 'x')?.fault).toBeUndefined();
});

it('chooses by key among documents of one listing', async () => {
  const world = await openWorld([opened('one', fakeSource({ b: text('gpu'), a: text('gpu'), c: text('gpu') }))]);

  expect(world.pool('gpu')?.owner.key).toBe('a');
  expect(world.document('one', 'a')?.fault?.message).toContain('(document "b") and 1 more');
  expect(world.document('one', 'c')?.fault?.kind).toBe('conflict');
});

it('transfers a pool that was dropped here and is defined there: same id, no removal', async () => {
  const [here, there] = [fakeSource({ x: text('gpu') }), fakeSource()];
  const world = await openWorld([opened('here', here), opened('there', there)]);
  const before = world.pool('gpu');

  here.remove('x');
  there.put('y', text({ name: 'gpu', max: 4 }));
  await world.intervals(2);

  expect(world.pool('gpu')).toMatchObject({ id: before?.id, owner: { source: 'there', key: 'y' } });
  expect(world.pool('gpu')?.spec.scaling.maxAgents).toBe(4);
  expect(world.pool('gpu')?.removal).toBeUndefined();
  expect(world.document('here', 'x')).toBeUndefined();
  expect(world.document('there', 'y')?.pool).toBe(before?.id);
  expect(world.document('there', 'y')?.fault).toBeUndefined();
  expect(world.events('pool.transferred')).toHaveLength(1);
  expect(world.eventKinds()).not.toContain('pool.removing');
});

it('transfers to a definition that was in conflict before', async () => {
  const here = fakeSource({ x: text('gpu') });
  const world = await openWorld([opened('here', here), opened('there', fakeSource({ y: text('gpu') }))]);
  expect(world.document('there', 'y')?.fault).toBeDefined();

  here.remove('x');
  await world.intervals(2);

  expect(world.pool('gpu')?.owner).toMatchObject({ source: 'there', key: 'y' });
  expect(world.document('there', 'y')?.fault).toBeUndefined();
  expect(world.eventKinds()).not.toContain('pool.removing');
});

it('does not move a pool because one listing of its owner lacked it', async () => {
  const here = fakeSource({ x: text('gpu') });
  const world = await openWorld([opened('here', here), opened('there', fakeSource({ y: text('gpu') }))]);

  here.remove('x');
  await world.intervals();
  here.put('x', text('gpu'));
  await world.intervals(3);

  expect(world.pool('gpu')?.owner.source).toBe('here');
  expect(world.eventKinds()).not.toContain('pool.transferred');
});

it('follows a document that is renamed within its source', async () => {
  const source = fakeSource({ 'old.yaml': text('gpu') });
  const world = await openWorld([opened('files', source)]);
  const before = world.pool('gpu');

  source.remove('old.yaml');
  source.put('new.yaml', text('gpu'));
  await world.intervals();
  expect(world.events('pool.conflict')).toHaveLength(0);
  await world.intervals();

  expect(world.pool('gpu')).toMatchObject({ id: before?.id, owner: { key: 'new.yaml' } });
  expect(world.pool('gpu')?.removal).toBeUndefined();
});

it('never holds a transfer, however many pools move at once', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const here = fakeSource(Object.fromEntries(names.map((name) => [name, text(name)])));
  const there = fakeSource();
  const world = await openWorld([opened('here', here), opened('there', there, { everyMs: EVERY_MS * 10 })]);

  for (const name of names) {
    here.remove(name);
    there.put(`moved/${name}`, text(name));
  }
  await world.intervals(3);

  expect(names.map((name) => world.pool(name)?.owner.source)).toEqual(names.map(() => 'there'));
  expect(world.source('here')?.held).toBeUndefined();
  expect(world.eventKinds()).not.toContain('pool.removing');
  expect(world.eventKinds()).not.toContain('source.held');
});

it.each(['vanishes from the configuration', 'lists nothing any more'])(
  'transfers at a restart when the old source %s, whichever is read first',
  async (how) => {
    for (const slow of ['config', 'aws'] as const) {
      const names = ['a', 'b', 'c', 'd', 'e'];
      const documents = Object.fromEntries(names.map((name) => [name, text(name)]));
      const first = await openWorld([opened('config', fakeSource(documents), { trust: 'operator' })]);
      const ids = names.map((name) => first.pool(name)?.id);
      await first.stop();

      const [config, aws] = [fakeSource(), fakeSource(documents)];
      const late = slow === 'config' ? config : aws;
      const { documents: list } = late;
      late.documents = async (held, signal) => {
        await first.clock.sleep(5_000);
        return list(held, signal);
      };
      const sources = how.startsWith('vanishes')
        ? [opened('aws', aws)]
        : [opened('config', config), opened('aws', aws)];
      const second = await openWorld(sources, first);
      await second.intervals(4);

      expect(names.map((name) => second.pool(name)?.id)).toEqual(ids);
      expect(names.map((name) => second.pool(name)?.owner.source)).toEqual(names.map(() => 'aws'));
      expect(second.eventKinds()).not.toContain('pool.removing');
      expect(second.eventKinds()).not.toContain('source.held');
    }
  },
);

it('keeps everything where the new source of a migration cannot be read yet, until it can', async () => {
  const first = await openWorld([opened('config', fakeSource({ a: text('a') }))]);
  await first.stop();
  const aws = fakeSource({ 'pools/a': text('a') });
  aws.fault = outage();

  const second = await openWorld([opened('config', fakeSource()), opened('aws', aws)], first);
  await second.intervals(60);
  expect(second.pool('a')?.id).toBe(first.pool('a')?.id);
  expect(second.pool('a')?.removal).toBeUndefined();
  expect(second.source('config')?.held?.why).toContain('"aws" cannot be read');
  aws.fault = undefined;
  await second.intervals(2);

  expect(second.pool('a')).toMatchObject({ id: first.pool('a')?.id, owner: { source: 'aws' } });
  expect(second.source('config')?.held).toBeUndefined();
});

it('keeps a pool with its owner when that cannot be read after a restart, and reports the rival', async () => {
  const one = fakeSource({ x: text('gpu') });
  const first = await openWorld([opened('one', one)]);
  await first.stop();
  one.documents = async () => {
    await first.clock.sleep(5_000);
    throw outage();
  };

  const second = await openWorld([opened('one', one), opened('two', fakeSource({ y: text('gpu') }))], first);
  expect(second.events('pool.conflict')).toHaveLength(0);
  await second.clock.advance(6_000);

  expect(second.pool('gpu')?.owner.source).toBe('one');
  expect(second.document('two', 'y')?.fault?.message).toContain('is owned by source "one"');
  expect(second.events('pool.conflict')).toHaveLength(1);
});

it('moves no pool and reports nothing anew when a world with a conflict restarts', async () => {
  const sources = [opened('one', fakeSource({ x: text('gpu') })), opened('two', fakeSource({ y: text('gpu') }))];
  const first = await openWorld(sources);
  await first.stop();
  const before = first.events().length;

  const second = await openWorld(sources.toReversed(), first);
  await second.intervals(2);

  expect(second.pool('gpu')?.owner.source).toBe('one');
  expect(second.events()).toHaveLength(before);
});

it('takes a document that gives another name for a new pool, and drops the old one after two listings', async () => {
  const source = fakeSource({ k: text('old') });
  const world = await openWorld([opened('files', source)]);

  source.put('k', text('new'));
  await world.intervals();
  expect(world.pool('new')).toBeDefined();
  expect(world.pool('old')).toBeDefined();
  expect(world.pool('old')?.removal).toBeUndefined();
  await world.intervals();

  expect(world.pool('old')).toBeUndefined();
  expect(world.pool('new')?.owner.key).toBe('k');
});

it('counts a bad document neither for nor against the pool that it once named', async () => {
  const source = fakeSource({ k: text('old'), other: text('other') });
  const world = await openWorld([opened('files', source)]);
  source.put('k', text('new'));
  await world.list('files');
  source.put('k', '{ bad');
  for (let listings = 0; listings < 3; listings++) await world.list('files');
  expect(world.pool('old')?.removal).toBeUndefined();

  source.remove('k');
  await world.list('files');
  expect(world.pool('old')).toBeDefined();
  await world.list('files');

  expect([world.pool('old'), world.pool('new')]).toEqual([undefined, undefined]);
});

it('swaps two pools whose documents exchange their names, and removes neither', async () => {
  const source = fakeSource({ k1: text('a'), k2: text('b') });
  const world = await openWorld([opened('files', source)]);
  const [a, b] = [world.pool('a')?.id, world.pool('b')?.id];

  source.put('k1', text('b'));
  source.put('k2', text('a'));
  await world.intervals(3);

  expect(world.pool('a')).toMatchObject({ id: a, owner: { key: 'k2' } });
  expect(world.pool('b')).toMatchObject({ id: b, owner: { key: 'k1' } });
  expect(world.eventKinds()).not.toContain('pool.removing');
  expect(world.document('files', 'k1')?.fault).toBeUndefined();
});
