import { expect, it } from 'vitest';
import { put } from '#core/store.ts';
import { listener } from './testing/listener.ts';
import { ALICE, EVERY_MS, fakeSource, opened, openWorld, text, type World } from './testing/world.ts';

async function addSession(world: World, pool: string): Promise<void> {
  await world.store.commit([
    { table: 'sessions', id: 's', row: { id: 's', pool: world.pool(pool)?.id } as never } as never,
  ]);
}

it('tells a source of each document once, and again when that has changed', async () => {
  const source = listener({ a: text('a'), bad: '{' });
  const world = await openWorld([opened('files', source), opened('deaf', fakeSource({ x: text('x') }))]);

  const first = source.reported();
  const fault = source.heard.find((status) => status !== 'gone' && status.fault);
  await world.intervals(3);
  const silent = source.reported();
  source.put('bad', text('good'));
  await world.list('files');
  const mended = source.reported();
  await world.pools.pause('a', true, ALICE);
  await world.clock.settle();

  expect(first).toEqual([
    ['a', 'manual', 'a'],
    ['bad', 'refused', undefined],
  ]);
  expect(fault).toMatchObject({ version: 'v1', fault: { kind: 'invalid', place: 'line 3, column 7' } });
  expect(silent).toEqual([]);
  expect(mended).toEqual([['bad', 'manual', 'good']]);
  expect(source.reported()).toEqual([['a', 'paused', 'a']]);
});

it('tells that a document is gone only when its pool is, and at once', async () => {
  const source = listener({ a: text('a'), b: text('b'), bad: '{' });
  const world = await openWorld([opened('files', source)]);
  await addSession(world, 'a');
  source.reported();

  source.remove('a');
  source.remove('bad');
  await world.list('files');
  await world.list('files');
  await world.clock.advance(1_000);
  const draining = source.reported();
  await world.store.commit([{ table: 'sessions', id: 's', row: undefined } as never]);
  await world.clock.settle();

  expect(draining).toEqual([
    ['a', 'removing', 'a'],
    ['bad', 'gone'],
  ]);
  expect(world.pool('a')).toBeUndefined();
  expect(source.reported()).toEqual([['a', 'gone']]);
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

  expect(after.reported()).toEqual([
    ['a', 'removing', 'a'],
    ['a', 'gone'],
    ['b', 'manual', 'b'],
  ]);
});

it('tells again what could not be reported, and syncs all the while', async () => {
  const source = listener({ a: text('a') });
  source.fails = true;
  const world = await openWorld([opened('files', source)]);
  await world.clock.advance(EVERY_MS);
  const failures = world.lines.filter(({ message }) => message === 'cannot report status of a document');

  source.fails = false;
  source.documents = () => new Promise<never>(() => {});
  await world.intervals(2);

  const spoken = world.lines.filter(({ level }) => level !== 'debug');
  expect(spoken.every(({ fields }) => fields?.provisioner === 'files')).toBe(true);
  expect(failures[0]?.fields).toMatchObject({ provisioner: 'files', document: 'a' });
  expect(world.pool('a')).toBeDefined();
  expect(source.reported()).toEqual([['a', 'manual', 'a']]);
});

it('tells nothing before it is durable', async () => {
  const source = listener({ a: text('a') });
  const { promise: isWritten, resolve: write } = Promise.withResolvers<void>();
  const world = await openWorld([opened('files', source)], { beforeWrite: () => isWritten });
  const before = source.reported();

  write();
  await world.clock.settle();

  expect(before).toEqual([]);
  expect(source.reported()).toEqual([['a', 'manual', 'a']]);
});

it('waits for no answer for ever', async () => {
  const source = listener({ a: text('a') });
  const hangs = Object.assign(fakeSource({ b: text('b') }), { report: () => new Promise<never>(() => {}) });
  const world = await openWorld([opened('files', source), opened('hangs', hangs)]);

  await world.clock.advance(31_000);

  expect(source.reported()).toEqual([['a', 'manual', 'a']]);
  expect(world.lines).toContainEqual(
    expect.objectContaining({
      message: 'cannot report status of a document',
      fields: expect.objectContaining({ provisioner: 'hangs' }),
    }),
  );
});

it('reports what the pool has, wants and last decided, while it drains too', async () => {
  const source = listener({ a: text({ name: 'a', drainMs: 60_000 }) });
  const decision = { did: 'nothing', reasons: ['max-agents'], why: 'max_agents is reached', at: 7 };
  const world = await openWorld([opened('files', source)], {
    activityOf: () => ({
      decision,
      need: { wanted: 1, lost: 0 },
      trouble: { kind: 'exhausted', message: 'no capacity with secret' },
    }),
    redact: (text) => text.replace('secret', '***'),
  });
  const pool = world.pool('a')?.id ?? '';
  await world.store.commit([put('workers', { id: 'w', pool, machine: 'w', askedAt: 0 })]);
  await addSession(world, 'a');
  await world.clock.advance(2_000);
  const busy = source.heard.at(-1);
  source.markDeleted('a');
  await world.list('files');
  await world.clock.advance(2_000);

  expect(busy).toMatchObject({
    phase: 'manual',
    wanted: 1,
    isPlanned: true,
    counts: { workers: { total: 1, launching: 1 }, sessions: { queued: 1, placed: 0 } },
    decision,
    trouble: { kind: 'exhausted', message: 'no capacity with ***' },
  });
  const deadlineAt = world.pool('a')?.removal?.deadlineAt;
  expect(source.heard.at(-1)).toMatchObject({ phase: 'removing', wanted: 0, drain: { sessions: 1, deadlineAt } });
});

it('reports at most once a second and pool, and always the last state', async () => {
  const source = listener({ a: text('a'), b: text('b') });
  const world = await openWorld([opened('files', source)]);
  const pool = world.pool('a')?.id ?? '';
  source.reported();

  for (let at = 0; at < 50; at++) {
    await world.store.commit([put('workers', { id: `w${at}`, pool, machine: `w${at}`, askedAt: 0 })]);
    await world.clock.advance(100);
  }
  const during = source.reported();
  await world.clock.advance(3_000);

  expect(during.length).toBeGreaterThanOrEqual(2);
  expect(during.length).toBeLessThanOrEqual(5);
  expect(during.every(([key]) => key === 'a')).toBe(true);
  expect(source.heard.at(-1)).toMatchObject({ counts: { workers: { total: 50 } } });
});

it('reports nothing where the lease may be lost: no status, and no removal of what its writer waits with', async () => {
  const source = listener({ a: text('a'), b: text('b') });
  let leaseMs = 0;
  const world = await openWorld([opened('files', source)], { leaseLeftMs: () => leaseMs });
  source.markDeleted('b');
  await world.list('files');
  const fenced = source.reported();

  leaseMs = 3_000;
  await world.clock.advance(EVERY_MS);

  expect(world.pool('b')).toBeUndefined();
  expect(fenced).toEqual([]);
  expect(source.reported()).toEqual([
    ['a', 'manual', 'a'],
    ['b', 'gone'],
  ]);
});

it('keeps to the calls a second that the source allows', async () => {
  const documents = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, text(`p${at}`)]));
  const source = listener(documents);
  const world = await openWorld([opened('files', source, { limits: { read: 1, write: 2 } })]);

  await world.clock.advance(5_000);
  const soon = source.reported().length;
  await world.clock.advance(30_000);

  expect(soon).toBeLessThan(20);
  expect(soon + source.reported().length).toBe(40);
});
