import { expect, it } from 'vitest';
import type { LaunchRecord } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import type { Mark } from '#core/provider.ts';
import type { Session } from '#core/session.ts';
import { drop, put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { ALICE, EVERY_MS, fakeSource, opened, openWorld, outage, text, type World } from './testing/world.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const documentsOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, text(name)]));

const worker = (pool: Pool | undefined, id = 'm-1'): Worker => ({ id, pool: pool?.id ?? '', machine: id, askedAt: 0 });
const keepBusy = (world: World, name: string) =>
  world.store.commit([put('workers', worker(world.pool(name), `m-${name}`))]);
const removing = (world: World) =>
  [...world.store.view.pools.all()].filter(({ removal }) => removal).map(({ name }) => name);

it('removes a pool whose document is missing from two good listings in a row', async () => {
  const source = fakeSource({ a: text({ name: 'a', drainMs: 5_000 }), b: text('b') });
  const world = await openWorld([opened('files', source)]);
  await keepBusy(world, 'a');

  source.remove('a');
  await world.intervals();
  expect(world.pool('a')?.removal).toBeUndefined();
  expect(world.document('files', 'a')?.missed).toBe(1);
  await world.intervals();

  const { removal, revision } = world.pool('a') ?? {};
  expect(removal?.deadlineAt).toBe((removal?.at ?? 0) + 5_000);
  expect(removal?.why).toContain('"files" no longer defines it');
  expect(revision).toBe(2);
  expect(world.events('pool.removing')).toHaveLength(1);
  expect(world.pool('b')?.removal).toBeUndefined();
});

it('does not count listings that fail, nor those before a document returned', async () => {
  const source = fakeSource(documentsOf(['a', 'b', 'c']));
  const world = await openWorld([opened('files', source)]);

  source.remove('a');
  await world.intervals();
  source.fault = outage();
  await world.intervals(60);
  expect(removing(world)).toEqual([]);
  source.fault = undefined;
  source.put('a', text('a'));
  await world.list('files');
  source.remove('a');
  await world.list('files');

  expect(removing(world)).toEqual([]);
  expect(world.document('files', 'a')?.missed).toBe(1);
});

it('counts the missing listings on across a restart', async () => {
  const source = fakeSource(documentsOf(['a', 'b']));
  const first = await openWorld([opened('files', source)]);
  source.remove('a');
  await first.intervals();
  await first.stop();

  const second = await openWorld([opened('files', source)], first);

  expect(second.pool('a')).toBeUndefined();
  expect(second.pool('b')).toBeDefined();
});

it('does not let a hint confirm what is missing: files vanish for a moment while they are replaced', async () => {
  const source = fakeSource(documentsOf(['a', 'b', 'c']));
  const world = await openWorld([opened('files', source)]);

  source.remove('a');
  for (let hints = 0; hints < 5; hints++) {
    source.hint();
    await world.clock.advance(10);
  }
  expect(source.listings).toBeGreaterThan(3);
  expect(world.pool('a')?.removal).toBeUndefined();
  source.put('a', text('a'));
  source.hint();
  await world.intervals(3);

  expect(world.eventKinds()).not.toContain('pool.removing');
});

it('confirms what is missing on time although hints keep coming', async () => {
  const source = fakeSource(documentsOf(['a', 'b', 'c']));
  const world = await openWorld([opened('files', source)]);

  source.remove('a');
  for (let hints = 0; hints < 30; hints++) {
    source.hint();
    await world.clock.advance(EVERY_MS / 10);
  }

  expect(world.pool('a')).toBeUndefined();
});

it.each(['workers', 'launches', 'sessions'] as const)(
  'drops a removed pool when the last of its %s is gone, and not before',
  async (table) => {
    const source = fakeSource(documentsOf(['a', 'b']));
    const world = await openWorld([opened('files', source)]);
    const pool = world.pool('a')?.id ?? '';
    const mark: Mark = { cluster: 'c', use: 'worker', owner: pool, shape: '' };
    const row = { id: 'x1', pool, mark } as unknown as Worker & LaunchRecord & Session;
    await world.store.commit([put(table, row)]);
    source.remove('a');
    await world.intervals(2);
    expect(world.pool('a')?.removal).toBeDefined();

    await world.store.commit([drop(table, 'x1')]);
    await world.clock.settle();

    expect(world.pool('a')).toBeUndefined();
    expect(world.document('files', 'a')).toBeUndefined();
    expect(world.eventKinds().slice(-2)).toEqual(['pool.removing', 'pool.removed']);
  },
);

it('finishes a removal that a restart interrupted', async () => {
  const source = fakeSource(documentsOf(['a', 'b']));
  const first = await openWorld([opened('files', source)]);
  await keepBusy(first, 'a');
  source.remove('a');
  await first.intervals(2);
  await first.store.commit([drop('workers', 'm-a')]);
  await first.stop();

  const second = await openWorld([opened('files', source)], first);

  expect(second.pool('a')).toBeUndefined();
});

it('cancels the removal when the document is back before the drain ends', async () => {
  const source = fakeSource(documentsOf(['a', 'b']));
  const world = await openWorld([opened('files', source)]);
  const { id } = world.pool('a') as Pool;
  await keepBusy(world, 'a');
  source.remove('a');
  await world.intervals(2);
  expect(world.pool('a')?.removal).toBeDefined();

  source.put('a', text({ name: 'a', max: 9 }));
  await world.intervals();

  expect(world.pool('a')?.id).toBe(id);
  expect(world.pool('a')?.removal).toBeUndefined();
  expect(world.pool('a')?.spec.scaling.maxAgents).toBe(9);
  expect(world.events('pool.restored')).toHaveLength(1);
});

it('cancels the removal when another source defines the pool before the drain ends', async () => {
  const [here, there] = [fakeSource(documentsOf(['a', 'b'])), fakeSource()];
  const world = await openWorld([opened('here', here), opened('there', there)]);
  await keepBusy(world, 'a');
  here.remove('a');
  await world.intervals(2);
  expect(world.pool('a')?.removal).toBeDefined();

  there.put('x', text('a'));
  await world.intervals();

  expect(world.pool('a')?.owner.source).toBe('there');
  expect(world.pool('a')?.removal).toBeUndefined();
});

it('asks the other sources once more before it removes, however seldom they are read', async () => {
  const [here, there] = [fakeSource(documentsOf(['a', 'b'])), fakeSource()];
  const world = await openWorld([opened('here', here), opened('there', there, { everyMs: EVERY_MS * 1_000 })]);

  here.remove('a');
  there.put('x', text('a'));
  await world.intervals(2);

  expect(world.pool('a')?.owner.source).toBe('there');
  expect(there.listings).toBe(2);
});

it('holds a removal while another source cannot be read, since the pool may have moved there', async () => {
  const [here, there] = [fakeSource(documentsOf(['a', 'b'])), fakeSource()];
  const world = await openWorld([opened('here', here), opened('there', there)]);
  there.fault = outage();

  here.remove('a');
  await world.intervals(5);
  expect(world.pool('a')?.removal).toBeUndefined();
  expect(world.source('here')?.held).toMatchObject({ keys: ['a'] });
  there.fault = undefined;
  await world.intervals(2);

  expect(world.pool('a')).toBeUndefined();
  expect(world.source('here')?.held).toBeUndefined();
});

it('reads all sources once more, the owner too, before it removes what was held for a while', async () => {
  const [here, there] = [fakeSource(documentsOf(['a', 'b'])), fakeSource()];
  const world = await openWorld([opened('here', here), opened('there', there)]);
  here.remove('a');
  there.fault = outage();
  await world.intervals(3);
  expect(world.source('here')?.held).toBeDefined();

  here.put('restored', text('a'));
  there.fault = undefined;
  await world.list('there');

  expect(world.pool('a')?.owner).toMatchObject({ source: 'here', key: 'restored' });
  expect(world.eventKinds()).not.toContain('pool.removing');
  expect(world.source('here')?.held).toBeUndefined();
});

it.each([
  ['more than half of four', 4, 3, true],
  ['half of four', 4, 2, false],
  ['two of three', 3, 2, false],
  ['all of two', 2, 2, true],
  ['the only one', 1, 1, false],
])('holds a listing without %s: %i pools, %i missing', async (_what, total, missing, isHeld) => {
  const names = NAMES.slice(0, total);
  const gone = names.slice(0, missing);
  const source = fakeSource(documentsOf(names));
  const world = await openWorld([opened('files', source)]);

  for (const name of gone) source.remove(name);
  await world.intervals(4);

  expect(world.source('files')?.held?.keys).toEqual(isHeld ? gone : undefined);
  expect([...world.store.view.pools.all()].map(({ name }) => name)).toEqual(isHeld ? names : names.slice(missing));
  expect(world.events('source.held')).toHaveLength(isHeld ? 1 : 0);
});

it('removes what was held when that is approved, with the name of who did', async () => {
  const source = fakeSource(documentsOf(NAMES));
  const world = await openWorld([opened('files', source)]);
  for (const name of NAMES.slice(1)) source.remove(name);
  await world.intervals(3);
  for (const name of NAMES) await keepBusy(world, name);

  await world.pools.approve('files', ALICE);

  expect(removing(world)).toEqual(NAMES.slice(1));
  expect(world.source('files')?.held).toBeUndefined();
  expect(world.events('source.approved')[0]).toMatchObject({ who: 'token:alice', from: '10.0.0.7' });
  expect(world.events('pool.removing')[0]).toMatchObject({ who: 'token:alice' });
});

it('lets go of a held listing by itself when the documents are back', async () => {
  const source = fakeSource(documentsOf(NAMES));
  const world = await openWorld([opened('files', source)]);
  for (const name of NAMES) source.remove(name);
  await world.intervals(3);
  expect(world.source('files')?.held).toBeDefined();

  for (const name of NAMES) source.put(name, text(name));
  await world.intervals(2);

  expect(world.source('files')?.held).toBeUndefined();
  expect(world.eventKinds()).not.toContain('pool.removing');
  await expect(world.pools.approve('files', ALICE)).rejects.toMatchObject({ kind: 'conflict' });
});

it('tells of a hold that grows, and approves only as many as were seen', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const source = fakeSource(Object.fromEntries(names.map((name) => [name, text(name)])));
  const world = await openWorld([opened('files', source)]);
  for (const name of names.slice(0, 5)) source.remove(name);
  await world.intervals(3);
  for (const name of names.slice(5)) source.remove(name);
  await world.intervals(3);

  await expect(world.pools.approve('files', ALICE, 5)).rejects.toMatchObject({
    kind: 'stale',
    message: '8 pools of source "files" are held now, not 5.',
  });
  expect(names.map((name) => world.pool(name)?.removal)).toEqual(names.map(() => undefined));
  expect(world.events('source.held').map(({ message }) => message.match(/^The removal of \d/)?.[0])).toEqual([
    'The removal of 5',
    'The removal of 8',
  ]);

  await world.pools.approve('files', ALICE, 8);
  expect(names.filter((name) => world.pool(name)?.removal)).toHaveLength(8);
});

it('keeps a hold across a restart, and approves only what it has seen again', async () => {
  const source = fakeSource(documentsOf(NAMES));
  const first = await openWorld([opened('files', source)]);
  for (const name of NAMES) source.remove(name);
  await first.intervals(3);
  await first.stop();
  source.fault = outage();

  const second = await openWorld([opened('files', source)], first);

  expect(second.source('files')?.held?.keys).toEqual(NAMES);
  await expect(second.pools.approve('files', ALICE)).rejects.toMatchObject({ kind: 'unavailable' });
  source.fault = undefined;
  await second.intervals();
  await second.pools.approve('files', ALICE);
  await second.clock.settle();
  expect(second.store.view.pools.size).toBe(0);
});

it('holds the pools of a source that vanished from the configuration, until that is approved', async () => {
  const first = await openWorld([opened('files', fakeSource(documentsOf(['a'])))]);
  await first.stop();

  const second = await openWorld([], first);
  await second.intervals(10);
  expect(second.pool('a')).toBeDefined();
  expect(second.pool('a')?.removal).toBeUndefined();
  expect(second.source('files')?.held).toMatchObject({ keys: ['a'] });
  await second.pools.approve('files', ALICE);
  await second.clock.settle();

  expect(second.pool('a')).toBeUndefined();
  expect(second.source('files')).toBeUndefined();
  expect(second.document('files', 'a')).toBeUndefined();
});

it('holds them also when the source vanishes while we run, and lets go when it returns', async () => {
  const files = opened('files', fakeSource(documentsOf(['a', 'b'])));
  const other = opened('other', fakeSource());
  const world = await openWorld([files, other]);

  world.pools.setSources([other]);
  await world.intervals(3);
  expect(world.source('files')?.held?.keys).toEqual(['a', 'b']);
  world.pools.setSources([files, other]);
  await world.intervals(3);

  expect(world.source('files')?.held).toBeUndefined();
  expect(world.eventKinds()).not.toContain('pool.removing');
});

it('forgets a vanished source at once when it owns nothing', async () => {
  const world = await openWorld([opened('files', fakeSource({ k: 'bad' }))]);

  world.pools.setSources([]);
  await world.clock.settle();

  expect(world.source('files')).toBeUndefined();
  expect(world.document('files', 'k')).toBeUndefined();
});

it('moves the pools of a source that was renamed, and stops nothing', async () => {
  const source = fakeSource(documentsOf(NAMES));
  const first = await openWorld([opened('old', source)]);
  const ids = NAMES.map((name) => first.pool(name)?.id);
  await first.stop();

  const second = await openWorld([opened('new', source)], first);
  await second.intervals(3);

  expect(NAMES.map((name) => second.pool(name)?.id)).toEqual(ids);
  expect(NAMES.map((name) => second.pool(name)?.owner.source)).toEqual(NAMES.map(() => 'new'));
  expect(second.source('old')).toBeUndefined();
  expect(second.eventKinds()).not.toContain('pool.removing');
});

it('holds what is missing where a source of the same name now reads another place', async () => {
  const first = await openWorld([opened('team', fakeSource(documentsOf(['a'])), { place: '/pools/team' })]);
  await first.stop();

  const second = await openWorld([opened('team', fakeSource(), { place: '/pools/taem' })], first);
  await second.intervals(4);

  expect(second.pool('a')?.removal).toBeUndefined();
  expect(second.source('team')?.held?.why).toContain('now reads /pools/taem instead of /pools/team');
  await second.pools.approve('team', ALICE);
  await second.clock.settle();
  expect(second.pool('a')).toBeUndefined();
  expect(second.source('team')?.place).toBe('/pools/taem');
});

it('takes a new place for granted when every pool is found there', async () => {
  const first = await openWorld([opened('team', fakeSource(documentsOf(['a', 'b'])), { place: '/one' })]);
  await first.stop();
  const moved = fakeSource(documentsOf(['a', 'b']));

  const second = await openWorld([opened('team', moved, { place: '/two' })], first);
  moved.remove('a');
  await second.intervals(2);

  expect(second.source('team')?.place).toBe('/two');
  expect(second.pool('a')).toBeUndefined();
});

it('knows no source to approve that it never had', async () => {
  const world = await openWorld([]);

  await expect(world.pools.approve('nobody', ALICE)).rejects.toMatchObject({ kind: 'missing' });
});
