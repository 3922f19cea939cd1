import { expect, it } from 'vitest';
import type { DocumentReport } from '#core/source.ts';
import { ALICE, EVERY_MS, fakeSource, opened, openWorld, outage, text, type World } from './testing/world.ts';

type Told = readonly [key: string, status: string, pool?: string | undefined];

/** A source that hears of its documents, and what it has heard since it was last asked. */
function listener(documents: Readonly<Record<string, string>>) {
  const source = fakeSource(documents);
  let told: Told[] = [];
  const heard: (DocumentReport | 'gone')[] = [];
  const listening = Object.assign(source, {
    fails: false,
    heard,
    async report(key: string, status: DocumentReport | 'gone') {
      if (listening.fails) throw outage();
      heard.push(status);
      told.push(status === 'gone' ? [key, 'gone'] : [key, status.phase, status.pool]);
    },
    told(): readonly Told[] {
      const since = told.toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
      told = [];
      return since;
    },
  });
  return listening;
}

async function addSession(world: World, pool: string): Promise<void> {
  await world.store.commit([
    { table: 'sessions', id: 's', row: { id: 's', pool: world.pool(pool)?.id } as never } as never,
  ]);
}

it('tells a source of each document once, and again when that has changed', async () => {
  const source = listener({ a: text('a'), bad: '{' });
  const world = await openWorld([opened('files', source), opened('deaf', fakeSource({ x: text('x') }))]);

  const first = source.told();
  const fault = source.heard.find((status) => status !== 'gone' && status.fault);
  await world.intervals(3);
  const silent = source.told();
  source.put('bad', text('good'));
  await world.list('files');
  const mended = source.told();
  await world.pools.pause('a', true, ALICE);
  await world.clock.settle();

  expect(first).toEqual([
    ['a', 'manual', 'a'],
    ['bad', 'refused', undefined],
  ]);
  expect(fault).toMatchObject({ version: 'v1', fault: { kind: 'invalid', place: 'line 3, column 7' } });
  expect(silent).toEqual([]);
  expect(mended).toEqual([['bad', 'manual', 'good']]);
  expect(source.told()).toEqual([['a', 'paused', 'a']]);
});

it('tells that a document is gone only when its pool is, and at once', async () => {
  const source = listener({ a: text('a'), b: text('b'), bad: '{' });
  const world = await openWorld([opened('files', source)]);
  await addSession(world, 'a');
  source.told();

  source.remove('a');
  source.remove('bad');
  await world.list('files');
  await world.list('files');
  const draining = source.told();
  await world.store.commit([{ table: 'sessions', id: 's', row: undefined } as never]);
  await world.clock.settle();

  expect(draining).toEqual([
    ['a', 'removing', 'a'],
    ['bad', 'gone'],
  ]);
  expect(world.pool('a')).toBeUndefined();
  expect(source.told()).toEqual([['a', 'gone']]);
});

it('tells of the end of a pool that began to drain before a restart', async () => {
  const before = listener({ a: text('a'), b: text('b') });
  const first = await openWorld([opened('files', before)]);
  await addSession(first, 'a');
  before.remove('a');
  await first.list('files');
  await first.list('files');
  await first.stop();

  const after = listener({ b: text('b') });
  const second = await openWorld([opened('files', after)], first);
  await second.store.commit([{ table: 'sessions', id: 's', row: undefined } as never]);
  await second.clock.settle();

  expect(after.told()).toEqual([
    ['a', 'removing', 'a'],
    ['a', 'gone'],
    ['b', 'manual', 'b'],
  ]);
});

it('tells again what could not be told, and syncs all the while', async () => {
  const source = listener({ a: text('a') });
  source.fails = true;
  const world = await openWorld([opened('files', source)]);
  await world.clock.advance(EVERY_MS);
  const failures = world.lines.filter(({ message }) => message === 'status of a document not told');

  source.fails = false;
  source.documents = () => new Promise<never>(() => {});
  await world.intervals(2);

  expect(world.lines.every(({ fields }) => fields?.provisioner === 'files')).toBe(true);
  expect(failures[0]?.fields).toMatchObject({ provisioner: 'files', document: 'a' });
  expect(world.pool('a')).toBeDefined();
  expect(source.told()).toEqual([['a', 'manual', 'a']]);
});

it('tells nothing before it is durable', async () => {
  const source = listener({ a: text('a') });
  const { promise: isWritten, resolve: write } = Promise.withResolvers<void>();
  const world = await openWorld([opened('files', source)], { beforeWrite: () => isWritten });
  const before = source.told();

  write();
  await world.clock.settle();

  expect(before).toEqual([]);
  expect(source.told()).toEqual([['a', 'manual', 'a']]);
});

it('waits for no answer for ever', async () => {
  const source = listener({ a: text('a') });
  const hangs = Object.assign(fakeSource({ b: text('b') }), { report: () => new Promise<never>(() => {}) });
  const world = await openWorld([opened('files', source), opened('hangs', hangs)]);

  await world.clock.advance(31_000);

  expect(source.told()).toEqual([['a', 'manual', 'a']]);
  expect(world.lines).toContainEqual(
    expect.objectContaining({
      message: 'status of a document not told',
      fields: expect.objectContaining({ provisioner: 'hangs' }),
    }),
  );
});
