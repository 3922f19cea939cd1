import { expect, it } from 'vitest';
import { type Change, put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { ALICE, fakeSource, opened, openWorld, specOf, text, type World } from './testing/world.ts';

const keepBusy = (world: World, name: string) => {
  const worker: Worker = { id: 'm-1', pool: world.pool(name)?.id ?? '', machine: 'm-1', askedAt: 0 };
  return world.store.commit([put('workers', worker)]);
};

it('creates and changes a pool, with the name of who did', async () => {
  const world = await openWorld([]);

  const created = await world.pools.define(text('a'), {}, ALICE);
  const changed = await world.pools.define(text({ name: 'a', max: 4 }), { revision: 1 }, ALICE);

  expect(created).toMatchObject({ name: 'a', revision: 1, owner: { source: 'api', key: 'a', version: '1' } });
  expect(changed).toMatchObject({ id: created.id, revision: 2, owner: { version: '2' } });
  expect(world.pool('a')).toEqual(changed);
  expect(world.events().map(({ kind, who, from }) => [kind, who, from])).toEqual([
    ['pool.created', 'token:alice', '10.0.0.7'],
    ['pool.changed', 'token:alice', '10.0.0.7'],
  ]);
});

it('answers only when the pool is durable', async () => {
  const world = await openWorld([]);

  await world.pools.define(text('a'), {}, ALICE);

  expect([...(world.disk.rows.get('pools')?.values() ?? [])]).toHaveLength(1);
});

it('changes nothing when the same text comes again', async () => {
  const world = await openWorld([]);
  const first = await world.pools.define(text('a'), {}, ALICE);
  const { writes } = world;

  const second = await world.pools.define(text('a'), {}, ALICE);

  expect(second).toEqual(first);
  expect(world.writes).toBe(writes);
});

it('takes a document that has only moved in its file for the same, and reads it where it stands', async () => {
  const read: string[] = [];
  const world = await openWorld([], {
    readPool: (content) => {
      read.push(content);
      return { spec: specOf({ name: 'a' }) };
    },
  });
  const moved = `\n  \n\n${text('a')}`;

  const first = await world.pools.define(text('a'), {}, ALICE);
  const { writes } = world;
  const second = await world.pools.define(moved, {}, ALICE);

  expect(second).toEqual(first);
  expect(world.writes).toBe(writes);
  expect(read.at(-1)).toBe(moved);
  expect(world.document('api', 'a')?.text).toBe(text('a'));
});

it('refuses a bad document with its place, and applies none of it', async () => {
  const world = await openWorld([]);

  await expect(world.pools.define('{ bad', {}, ALICE)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'This is not JSON.',
    at: 'line 3, column 7',
  });
  await expect(world.pools.define(text({ name: 'a', kind: 'command' }), {}, ALICE)).rejects.toMatchObject({
    kind: 'invalid',
  });

  expect(world.store.view.pools.size).toBe(0);
  expect(world.store.view.documents.size).toBe(0);
});

it('refuses a write that expects another revision', async () => {
  const world = await openWorld([]);
  await world.pools.define(text('a'), { revision: 0 }, ALICE);

  const late = text({ name: 'a', max: 9 });

  await expect(world.pools.define(late, { revision: 0 }, ALICE)).rejects.toMatchObject({ kind: 'stale' });
  await expect(world.pools.define(late, { revision: 7 }, ALICE)).rejects.toMatchObject({ kind: 'stale' });
  await expect(world.pools.define(text('b'), { revision: 1 }, ALICE)).rejects.toMatchObject({ kind: 'stale' });
  await expect(world.pools.remove('a', { revision: 7 }, ALICE)).rejects.toMatchObject({ kind: 'stale' });
  expect(world.pool('a')?.revision).toBe(1);
});

it('refuses to change or remove what another source owns, and names the owner and the remedy', async () => {
  const world = await openWorld([opened('aws:/pools', fakeSource({ x: text('a') }))]);

  for (const attempt of [world.pools.define(text('a'), {}, ALICE), world.pools.remove('a', {}, ALICE)]) {
    await expect(attempt).rejects.toMatchObject({ kind: 'conflict' });
    await expect(attempt).rejects.toThrow('source "aws:/pools" (document "x")');
    await expect(attempt).rejects.toHaveProperty('remedy', expect.stringContaining('document there'));
  }
  expect(world.pool('a')?.revision).toBe(1);
});

it('removes at once, without a second listing, and drains', async () => {
  const world = await openWorld([]);
  await world.pools.define(text({ name: 'a', drainMs: 9_000 }), {}, ALICE);
  await keepBusy(world, 'a');

  const removed = await world.pools.remove('a', { revision: 1 }, ALICE);

  expect(removed.removal).toMatchObject({ why: 'Removed by token:alice.' });
  expect(removed.removal?.deadlineAt).toBe(world.clock.now() + 9_000);
  expect(await world.pools.remove('a', {}, ALICE)).toEqual(removed);
  expect(world.document('api', 'a')).toBeUndefined();
  expect(world.events('pool.removing')).toHaveLength(1);
});

it('removes an idle pool for good, and answers with it although it is gone', async () => {
  const world = await openWorld([]);
  await world.pools.define(text('a'), {}, ALICE);

  const removed = await world.pools.remove('a', {}, ALICE);
  await world.clock.settle();

  expect(removed.name).toBe('a');
  expect(world.pool('a')).toBeUndefined();
  await expect(world.pools.remove('a', {}, ALICE)).rejects.toMatchObject({ kind: 'missing' });
});

it('cancels a removal when the pool is defined again before the drain ends', async () => {
  const world = await openWorld([]);
  const { id } = await world.pools.define(text('a'), {}, ALICE);
  await keepBusy(world, 'a');
  await world.pools.remove('a', {}, ALICE);

  const again = await world.pools.define(text('a'), {}, ALICE);

  expect(again).toMatchObject({ id, revision: 3 });
  expect(again.removal).toBeUndefined();
});

it('keeps its pools across a restart, where no configuration names them', async () => {
  const first = await openWorld([]);
  const pool = await first.pools.define(text({ name: 'a', max: 3 }), {}, ALICE);
  await first.stop();

  const second = await openWorld([opened('files', fakeSource({ x: text('a') }))], first);
  await second.intervals(3);

  expect(second.pool('a')).toEqual(pool);
  expect(second.document('files', 'x')?.fault?.kind).toBe('conflict');
  const changed = await second.pools.define(text({ name: 'a', max: 8 }), { revision: 1 }, ALICE);
  expect(changed.owner.version).toBe('2');
});

it('finishes a removal of which only the document was dropped before a crash', async () => {
  const first = await openWorld([]);
  await first.pools.define(text('a'), {}, ALICE);
  await first.stop();
  first.disk.rows.get('documents')?.clear();

  const second = await openWorld([], first);
  await second.clock.settle();

  expect(second.pool('a')).toBeUndefined();
});

it('hands a removed pool to the source whose definition was in conflict', async () => {
  const source = fakeSource();
  const world = await openWorld([opened('files', source)]);
  const { id } = await world.pools.define(text('a'), {}, ALICE);
  source.put('x', text('a'));
  await world.intervals();

  const answer = await world.pools.remove('a', {}, ALICE);

  expect(answer).toMatchObject({ id, owner: { source: 'files', key: 'x' } });
  expect(answer.removal).toBeUndefined();
});

it('takes over a pool whose source vanished from the configuration', async () => {
  const first = await openWorld([opened('files', fakeSource({ x: text('a') }))]);
  await first.stop();
  const second = await openWorld([], first);

  const pool = await second.pools.define(text('a'), {}, ALICE);
  await second.clock.settle();

  expect(pool).toMatchObject({ id: first.pool('a')?.id, owner: { source: 'api' } });
  expect(second.events('pool.transferred')[0]).toMatchObject({ who: 'token:alice' });
});

it('pauses and resumes a pool of any source, and a change of its document leaves it paused', async () => {
  const source = fakeSource({ x: text('a') });
  const world = await openWorld([opened('files', source)]);

  const paused = await world.pools.pause('a', true, ALICE);
  expect(await world.pools.pause('a', true, ALICE)).toEqual(paused);
  source.put('x', text({ name: 'a', max: 2 }));
  await world.intervals();
  expect(world.pool('a')?.pausedAt).toBe(paused.pausedAt);
  const resumed = await world.pools.pause('a', false, ALICE);

  expect(paused).toMatchObject({ revision: 2, pausedAt: expect.any(Number) });
  expect(resumed.pausedAt).toBeUndefined();
  expect(world.eventKinds()).toEqual(['pool.created', 'pool.paused', 'pool.changed', 'pool.resumed']);
  await expect(world.pools.pause('nobody', true, ALICE)).rejects.toMatchObject({ kind: 'missing' });
});

it('never shows the text of a document in an event', async () => {
  const world = await openWorld([]);

  await world.pools.define(text({ name: 'a', description: 'planted-secret' }), {}, ALICE);
  await world.pools.define(text({ name: 'a', description: 'planted-other' }), {}, ALICE);

  const changes: readonly Change[] = world.events().map((row) => ({ append: 'events', row }));
  expect(JSON.stringify(changes)).not.toContain('planted');
});

it('says that the last good version stays only of a pool that has one', async () => {
  const world = await openWorld([opened('files', fakeSource({ theirs: text('theirs') }))]);
  await world.pools.define(text('a'), {}, ALICE);
  const refuse = (name: string) =>
    world.pools.define(text({ name, kind: 'command' }), {}, ALICE).catch(({ remedy }) => remedy);

  expect(await refuse('a')).toBe('Correct the document; until then its last good version stays in force.');
  expect(await refuse('new')).toBe('Correct the document.');
  expect(await refuse('theirs')).toBe('Correct the document.');
});
