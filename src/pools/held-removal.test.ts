import { expect, it } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { heldRemovalOf } from './status.ts';
import { ALICE, EVERY_MS, fakeSource, opened, openWorld, outage, text, type World } from './testing/world.ts';

const TEN = [...'abcdefghij'];
const never = new AbortController().signal;

const documentsOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, text(name)]));
const living = (world: World): string =>
  [...world.store.view.pools.all()]
    .filter(({ removal }) => !removal)
    .map(({ name }) => name)
    .toSorted()
    .join('');

/** Ten pools, of which six are held. */
async function withSixHeld(): Promise<{ world: World; source: ReturnType<typeof fakeSource> }> {
  const source = fakeSource(documentsOf(TEN));
  const world = await openWorld([opened('files', source)]);
  for (const name of TEN.slice(0, 6)) source.remove(name);
  await world.intervals(3);
  expect(world.source('files')?.held?.keys).toEqual(TEN.slice(0, 6));
  return { world, source };
}

async function syncNow(world: World) {
  const outcome = world.pools.synced('files', never);
  await world.clock.settle();
  return outcome;
}

it('removes a single pool while others of its source are held, and leaves the held ones as they are', async () => {
  const { world, source } = await withSixHeld();

  source.remove('j');
  await world.intervals(3);

  expect(living(world)).toBe('abcdefghi');
  expect(world.source('files')?.held?.keys).toEqual(TEN.slice(0, 6));
  expect(world.events('source.held')).toHaveLength(1);
});

it('says of a held pool that its removal is held and why, and of no other', async () => {
  const { world } = await withSixHeld();
  const told = (name: string) => {
    const pool = world.pool(name);
    return pool && heldRemovalOf(world.store, pool);
  };

  expect(told('a')).toMatchObject({ why: 'The last listings lack 6 of the 10 pools of this source.', pools: 6 });
  expect(told('j')).toBeUndefined();
});

it('holds what is removed later, too, where that is more than half of the pools that are not held', async () => {
  const { world, source } = await withSixHeld();

  for (const name of ['g', 'h', 'i']) source.remove(name);
  await world.intervals(3);

  expect(living(world)).toBe(TEN.join(''));
  expect(world.source('files')?.held).toMatchObject({
    keys: TEN.slice(0, 9),
    why: 'The last listings lack 9 of the 10 pools of this source.',
  });
  expect(world.events('source.held')).toHaveLength(2);
});

it('adds up removals within an hour, so that a listing that fails bit by bit does not empty its source', async () => {
  const source = fakeSource(documentsOf(TEN));
  const world = await openWorld([opened('files', source)]);

  for (const name of TEN) {
    source.remove(name);
    await world.intervals(3);
  }

  expect(living(world)).toBe('fghij');
  expect(world.source('files')?.held?.keys).toEqual([...'fghij']);
  await world.clock.advance(2 * HOUR_MS);
  expect(living(world)).toBe('fghij');
  await world.pools.approve('files', ALICE, 5);
  expect(living(world)).toBe('');
});

it('says how many pools were removed within the last hour where they make it more than half', async () => {
  const source = fakeSource(documentsOf(['a', 'b', 'c', 'd']));
  const world = await openWorld([opened('files', source)]);

  for (const name of ['a', 'b', 'c']) {
    source.remove(name);
    await world.intervals(3);
  }

  expect(world.source('files')?.held?.why).toBe(
    'The last listings lack 1 of the 2 pools of this source, and 2 more were removed within the last hour.',
  );
});

it('adds up removals across a restart', async () => {
  const source = fakeSource(documentsOf(['a', 'b', 'c', 'd']));
  const first = await openWorld([opened('files', source)]);
  for (const name of ['a', 'b']) source.remove(name);
  await first.intervals(3);
  expect(living(first)).toBe('cd');
  await first.stop();

  const second = await openWorld([opened('files', source)], first);
  source.remove('c');
  await second.intervals(3);

  expect(living(second)).toBe('cd');
  expect(second.source('files')?.held?.keys).toEqual(['c']);
});

it('no longer counts a removal after an hour, nor one whose pool is defined again', async () => {
  const source = fakeSource(documentsOf(['a', 'b', 'c', 'd', 'e']));
  const world = await openWorld([opened('files', source)]);
  for (const name of ['a', 'b']) source.remove(name);
  await world.intervals(3);
  source.put('b', text('b'));
  await world.intervals(2);

  source.remove('c');
  await world.intervals(3);
  expect(living(world)).toBe('bde');
  await world.clock.advance(HOUR_MS);
  source.remove('d');
  await world.intervals(3);

  expect(living(world)).toBe('be');
  expect(world.source('files')?.held).toBeUndefined();
});

it('does not count what an operator approved among the removals of the hour', async () => {
  const { world, source } = await withSixHeld();
  await world.pools.approve('files', ALICE, 6);

  source.remove('g');
  await world.intervals(3);

  expect(living(world)).toBe('hij');
});

it('keeps what is held apart across a restart, and still removes a single pool', async () => {
  const { world: first, source } = await withSixHeld();
  await first.stop();

  const second = await openWorld([opened('files', source)], first);
  source.remove('j');
  await second.intervals(3);

  expect(living(second)).toBe('abcdefghi');
  expect(second.source('files')?.held?.keys).toEqual(TEN.slice(0, 6));
});

it('plans a single removal beside held ones as the guard would judge it', async () => {
  const { world } = await withSixHeld();
  const left = TEN.slice(6, 9).map((name) => ({ key: name, text: text(name) }));

  const plan = await world.pools.foresee(left, 'files');

  expect(plan.pools.map(({ name, change }) => `${change} ${name}`)).toEqual([
    ...TEN.slice(0, 6).map((name) => `hold ${name}`),
    'remove j',
  ]);
});

it('tells who asked for a sync what was removed, what is held, and what waits for another listing', async () => {
  const { world, source } = await withSixHeld();

  source.remove('j');
  const first = await syncNow(world);
  const second = await syncNow(world);

  expect(first).toMatchObject({ removing: [], held: TEN.slice(0, 6) });
  expect(first.waiting).toEqual([{ pool: 'j', why: 'The next listing without its document removes it.' }]);
  expect(second).toMatchObject({ removing: ['j'], held: TEN.slice(0, 6), waiting: [] });
});

it('tells who asked for a sync which other source a removal waits for', async () => {
  const [here, there] = [fakeSource(documentsOf(['a', 'b'])), fakeSource()];
  const world = await openWorld([opened('files', here), opened('there', there, { everyMs: EVERY_MS * 1_000 })]);

  here.remove('a');
  await syncNow(world);
  const { documents } = there;
  const reply = Promise.withResolvers<void>();
  there.documents = async (...given) => {
    await reply.promise;
    return documents(...given);
  };
  const waits = await syncNow(world);
  reply.resolve();
  await world.clock.settle();

  expect(waits).toMatchObject({ removing: [], held: [] });
  expect(waits.waiting).toEqual([{ pool: 'a', why: 'Source "there" must be read first: it may define the pool now.' }]);
  expect(world.pool('a')).toBeUndefined();
});

it('judges a later removal by itself where others are held since another source cannot be read', async () => {
  const [here, there] = [fakeSource(documentsOf(TEN)), fakeSource()];
  const world = await openWorld([opened('files', here), opened('there', there)]);
  there.fault = outage();
  here.remove('a');
  await world.intervals(3);
  here.remove('b');
  await world.intervals(3);
  expect(world.source('files')?.held?.keys).toEqual(['a', 'b']);

  there.fault = undefined;
  await world.intervals(3);

  expect(living(world)).toBe('cdefghij');
  expect(world.source('files')?.held).toBeUndefined();
});
