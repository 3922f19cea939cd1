import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import type { Source } from '#core/provider.ts';
import { EVERY_MS, fakeSource, ONE_INTERVAL_MS, opened, openWorld, outage, specOf, text } from './testing/world.ts';

it('reads each source at once and then on its own interval, with some jitter', async () => {
  const [often, seldom] = [fakeSource(), fakeSource()];
  const world = await openWorld([opened('often', often, { everyMs: 10_000 }), opened('seldom', seldom)]);
  expect([often.listings, seldom.listings]).toEqual([1, 1]);

  await world.clock.advance(10 * EVERY_MS);

  expect(often.listings).toBeGreaterThanOrEqual(54);
  expect(often.listings).toBeLessThanOrEqual(68);
  expect(seldom.listings).toBeGreaterThanOrEqual(9);
  expect(seldom.listings).toBeLessThanOrEqual(12);
});

it('reads a source at once on a hint and on request', async () => {
  const source = fakeSource();
  const world = await openWorld([opened('files', source)]);

  source.put('a', text('a'));
  source.hint();
  await world.clock.settle();
  expect(world.pool('a')).toBeDefined();
  source.put('b', text('b'));
  world.pools.sync('files');
  await world.clock.settle();

  expect(world.pool('b')).toBeDefined();
  expect(() => world.pools.sync('nobody')).toThrow(Fault);
});

it('shows a source that fails, keeps its pools, and tells of failure and recovery once', async () => {
  const source = fakeSource({ a: text('a') });
  const world = await openWorld([opened('files', source)]);

  source.fault = outage();
  await world.intervals(10);
  expect(world.source('files')?.fault).toMatchObject({
    kind: 'unavailable',
    message: 'The source is away.',
    remedy: outage().remedy,
  });
  expect(world.pool('a')?.revision).toBe(1);
  source.fault = undefined;
  await world.intervals();

  expect(world.source('files')?.fault).toBeUndefined();
  expect(world.eventKinds()).toEqual(['pool.created', 'source.failed', 'source.recovered']);
  const failures = world.lines.filter(({ message }) => message === 'source failed');
  expect(failures.length).toBeGreaterThan(5);
  expect(failures.every(({ fields }) => fields?.provisioner === 'files')).toBe(true);
});

it('retries a failed source no later than its interval, and no earlier than the source asks', async () => {
  const source = fakeSource();
  const world = await openWorld([opened('files', source, { everyMs: 10_000 })]);
  source.fault = new Fault('denied', 'No rights.');
  await world.clock.advance(11_000);
  const before = source.listings;

  await world.clock.advance(22_000);
  expect(source.listings).toBeGreaterThanOrEqual(before + 2);
  source.fault = new Fault('throttled', 'Slow down.', { retryAfterMs: 120_000 });
  await world.clock.advance(12_000);
  const throttled = source.listings;
  await world.clock.advance(100_000);

  expect(source.listings).toBe(throttled);
});

it('lets a source that hangs delay no other, and gives up on it after a while', async () => {
  const hanging: Source = { documents: () => new Promise(() => {}) };
  const good = fakeSource({ a: text('a') });

  const world = await openWorld([opened('hanging', hanging), opened('good', good)]);
  expect(world.pool('a')).toBeDefined();
  await world.clock.advance(11 * 60_000);

  expect(world.source('hanging')?.fault?.kind).toBe('unavailable');
  expect(good.listings).toBeGreaterThan(9);
});

it('aborts a listing when the source is taken out, and ignores what it still answers', async () => {
  let aborted = false;
  let answer: (documents: []) => void = () => {};
  const slow: Source = {
    documents: (_held, signal) =>
      new Promise((resolve) => {
        answer = resolve;
        signal.addEventListener('abort', () => {
          aborted = true;
        });
      }),
  };
  const world = await openWorld([opened('slow', slow)]);

  world.pools.setSources([]);
  answer([]);
  await world.clock.settle();

  expect(aborted).toBe(true);
  expect(world.source('slow')).toBeUndefined();
  expect(world.eventKinds()).toEqual([]);
});

it('takes nothing in of a source that was taken out while its documents were read', async () => {
  const source = fakeSource({ a: text('a') });
  let takeOut = (): void => {};
  const world = await openWorld([], {
    readPool: (content) => {
      takeOut();
      return { spec: specOf(JSON.parse(content)) };
    },
  });
  takeOut = () => world.pools.setSources([]);

  world.pools.setSources([opened('files', source)]);
  await world.intervals();

  expect(source.listings).toBe(1);
  expect(world.pool('a')).toBeUndefined();
});

it('stops at once while a listing is under way, and stops watching', async () => {
  const watched = fakeSource();
  const world = await openWorld([opened('hanging', { documents: () => new Promise(() => {}) }), opened('w', watched)]);
  expect(watched.isWatched).toBe(true);

  await world.stop();

  expect(watched.isWatched).toBe(false);
  await world.intervals(2);
  expect(watched.listings).toBe(1);
});

it('keeps what it has read of a source whose interval alone changed', async () => {
  const source = fakeSource({ a: text('a') });
  const world = await openWorld([opened('files', source)]);

  world.pools.setSources([opened('files', source, { everyMs: 1_000 })]);
  await world.clock.advance(10_000);

  expect(source.textsSent).toBe(1);
  expect(source.listings).toBeGreaterThan(8);
});

it('reads everything again under changed rules', async () => {
  const source = fakeSource({ a: text({ name: 'a', max: 5 }), b: text('b') });
  const world = await openWorld([opened('files', source)]);

  world.pools.setSources([opened('files', source, { allow: { maxAgents: 2 } })]);
  await world.intervals(3);

  expect(world.document('files', 'a')?.fault?.kind).toBe('denied');
  expect(world.pool('a')?.revision).toBe(1);
  expect(world.pool('b')?.revision).toBe(1);
});

it('refuses two sources of one name, and one that is called api, before it changes anything', async () => {
  const good = opened('good', fakeSource({ a: text('a') }));
  const world = await openWorld([good]);

  expect(() => world.pools.setSources([opened('x', fakeSource()), opened('x', fakeSource())])).toThrow(/"x"/);
  expect(() => world.pools.setSources([opened('api', fakeSource())])).toThrow(/"api"/);

  await world.clock.advance(ONE_INTERVAL_MS);
  expect(world.source('good')).toBeDefined();
});

it('lets a source that cannot be watched be polled', async () => {
  const source = fakeSource({ a: text('a') });
  source.watch = () => {
    throw new Error('no watches here');
  };

  const world = await openWorld([opened('files', source)]);

  expect(world.pool('a')).toBeDefined();
});

it('takes the first of two documents with one key', async () => {
  const source = fakeSource();
  source.documents = async () => [
    { key: 'k', version: '1', text: text('a') },
    { key: 'k', version: '2', text: text('b') },
  ];

  const world = await openWorld([opened('files', source)]);

  expect(world.pool('a')).toBeDefined();
  expect(world.pool('b')).toBeUndefined();
});

it('answers a request for a sync with its outcome', async () => {
  const source = fakeSource({ a: text('a'), b: text('b'), c: text('c') });
  const world = await openWorld([opened('files', source)]);
  const never = new AbortController().signal;
  const synced = async () => {
    const outcome = world.pools.synced('files', never);
    await world.clock.settle();
    return outcome;
  };

  source.put('a', text({ name: 'a', max: 5 }));
  source.put('n', text('n'));
  source.put('bad', '{');
  source.remove('c');
  const first = await synced();
  const second = await synced();
  source.fault = outage();
  const third = await synced();

  const waiting = [{ pool: 'c', why: 'The next listing without its document removes it.' }];
  const counts = { documents: 4, read: 3, missing: 1 };
  expect(first).toEqual({ ...counts, created: ['n'], changed: ['a'], removing: [], held: [], waiting });
  expect(second).toMatchObject({ created: [], changed: [], removing: ['c'] });
  expect(third.fault?.message).toBe('The source is away.');
});

it('tells of a pool that goes as soon as the other sources have been read that it waits for them', async () => {
  const source = fakeSource({ a: text('a'), b: text('b') });
  const world = await openWorld([opened('files', source), opened('other', fakeSource())]);
  const never = new AbortController().signal;
  source.remove('b');
  await world.list('files');

  const outcome = world.pools.synced('files', never);
  await world.clock.settle();

  const why = 'Source "other" must be read first: it may define the pool now.';
  expect(await outcome).toMatchObject({ removing: [], waiting: [{ pool: 'b', why }] });
  expect(world.pool('b')).toBeUndefined();
});

it('does not tell of a pool as going whose removal is held', async () => {
  const source = fakeSource({ a: text('a'), b: text('b') });
  const world = await openWorld([opened('files', source)]);
  source.remove('a');
  source.remove('b');
  await world.list('files');

  const outcome = world.pools.synced('files', new AbortController().signal);
  await world.clock.settle();

  expect(await outcome).toMatchObject({ removing: [], held: ['a', 'b'], waiting: [] });
  expect(world.source('files')?.held?.keys).toEqual(['a', 'b']);
});

it('ends the wait for a sync that cannot come any more', async () => {
  const hangs = { documents: () => new Promise<never>(() => {}) };
  const world = await openWorld([opened('files', hangs)]);
  const stopping = new AbortController();
  const failed = (waiting: Promise<unknown>) => expect(waiting).rejects.toMatchObject({ kind: 'unavailable' });

  const gone = failed(world.pools.synced('files', stopping.signal));
  stopping.abort();
  await gone;
  const replaced = failed(world.pools.synced('files', new AbortController().signal));
  world.pools.setSources([opened('files', fakeSource())]);
  await replaced;

  expect(() => world.pools.synced('nobody', stopping.signal)).toThrow(Fault);
});

it('ends the wait for the first sync of a source: with its pools, with a fault, or when it is closed before', async () => {
  const [late, bad] = [fakeSource({ a: text('a') }), fakeSource()];
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
  const documents = late.documents.bind(late);
  late.documents = async (...words) => mayAnswer.then(() => documents(...words));
  bad.fault = outage();
  const hangs = { documents: () => new Promise<never>(() => {}) };
  const world = await openWorld([opened('late', late), opened('bad', bad), opened('hangs', hangs)]);
  const synced: string[] = [];
  for (const id of ['late', 'bad', 'hangs']) void world.pools.firstSync(id).then(() => synced.push(id));

  await world.clock.settle();
  expect(synced).toEqual(['bad']);
  answer();
  await world.clock.settle();
  expect([synced, world.pool('a')?.name]).toEqual([['bad', 'late'], 'a']);
  world.pools.setSources([opened('late', late), opened('bad', bad)]);
  await world.clock.settle();

  expect(synced).toEqual(['bad', 'late', 'hangs']);
  expect(late.listings).toBe(1);
});

it('closes a source that is configured no longer, or otherwise, and all of them at the end; one that stays is left alone', async () => {
  const closed: string[] = [];
  const closing = (name: string) =>
    Object.assign(fakeSource({ [name]: text(name) }), { close: async () => void closed.push(name) });
  const [kept, replaced, vanished] = [closing('kept'), closing('replaced'), closing('vanished')];
  const world = await openWorld([opened('a', kept), opened('b', replaced), opened('c', vanished)]);

  world.pools.setSources([opened('a', kept, { allow: { maxAgents: 7 } }), opened('b', closing('other'))]);
  await world.clock.settle();
  const atOnce = closed.toSorted();
  await world.stop();

  expect(atOnce).toEqual(['replaced', 'vanished']);
  expect(closed.toSorted()).toEqual(['kept', 'other', 'replaced', 'vanished']);
});

it('stops also where a source never ends to close', async () => {
  const source = Object.assign(fakeSource(), { close: () => new Promise<never>(() => {}) });
  const world = await openWorld([opened('a', source)]);

  const stopped = world.stop();
  await world.clock.advance(6_000);
  await stopped;

  expect(world.lines).toContainEqual(expect.objectContaining({ message: 'cannot close source' }));
});
