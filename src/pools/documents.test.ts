import { expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { documentId } from '#core/source.ts';
import { put } from '#core/store.ts';
import { fakeSource, opened, openWorld, specOf, text } from './testing/world.ts';

it('makes a pool of each document, owned by its source', async () => {
  const source = fakeSource({ 'a.yaml': text('a'), 'team/b.yaml': text({ name: 'b', max: 7 }) });

  const world = await openWorld([opened('files', source)]);

  expect(world.pool('a')).toMatchObject({ revision: 1, owner: { source: 'files', key: 'a.yaml', version: 'v1' } });
  expect(world.pool('b')?.spec.scaling.maxAgents).toBe(7);
  expect(world.pool('b')?.id).toMatch(/^[0-9a-z]{8}$/);
  expect(world.document('files', 'a.yaml')).toMatchObject({ version: 'v1', pool: world.pool('a')?.id, missed: 0 });
  const [created] = world.events('pool.created');
  expect(created).toMatchObject({ subject: 'pool/a', who: 'source:files', from: 'a.yaml', pool: world.pool('a')?.id });
});

it('changes a pool when its document changes, and says what changed', async () => {
  const source = fakeSource({ a: text({ name: 'a', max: 1 }) });
  const world = await openWorld([opened('files', source)]);
  const before = world.pool('a');

  source.put('a', text({ name: 'a', max: 5 }));
  await world.intervals();

  expect(world.pool('a')).toMatchObject({ id: before?.id, revision: 2, owner: { version: 'v2' } });
  expect(world.pool('a')?.spec.scaling.maxAgents).toBe(5);
  expect(world.events('pool.changed')[0]?.fields).toMatchObject({ changed: ['scaling.maxAgents'] });
});

it('writes nothing, wakes no pool and reads no text while nothing changes', async () => {
  const source = fakeSource({ a: text('a'), b: text('b') });
  const world = await openWorld([opened('files', source)]);
  const { writes } = world;
  let woken = 0;
  world.store.onChange('pools', () => void woken++);

  await world.intervals(10);

  expect(source.listings).toBeGreaterThanOrEqual(10);
  expect(source.textsSent).toBe(2);
  expect([world.writes, woken]).toEqual([writes, 0]);
});

it('compares the very same list of a source once, until anything read or kept has changed', async () => {
  let looks = 0;
  const document = (key: string) => ({
    key,
    text: text(key),
    get version() {
      looks += 1;
      return 'v1';
    },
  });
  const list = [document('a'), document('b')];
  const other = fakeSource();
  const world = await openWorld([opened('files', { documents: async () => list }), opened('other', other)]);
  await world.intervals();
  const looksBefore = looks;

  await world.intervals(5);
  const looksAtRest = looks;
  other.put('c', text('c'));
  await world.intervals(2);

  expect(looksAtRest).toBe(looksBefore);
  expect(looks).toBeGreaterThan(looksAtRest);
});

it('notices a row that the very same list of its source lacks', async () => {
  const list = [{ key: 'a', version: 'v1', text: text('a') }];
  const world = await openWorld([opened('files', { documents: async () => list })]);
  await world.intervals(2);
  const row = world.document('files', 'a');
  if (!row) throw new Error('the document of pool a has no row');

  await world.store.commit([put('documents', { ...row, id: documentId('files', 'x'), key: 'x', pool: undefined })]);
  await world.intervals();

  expect(world.document('files', 'x')).toBeUndefined();
  expect(world.document('files', 'a')).toMatchObject({ missed: 0 });
});

it('keeps the last good definition when a new version is bad, and names the place', async () => {
  const source = fakeSource({ a: text({ name: 'a', max: 3 }), b: text('b') });
  const world = await openWorld([opened('files', source)]);

  source.put('a', '{ not json');
  source.put('b', text({ name: 'b', max: 2 }));
  await world.intervals(3);

  expect(world.pool('a')).toMatchObject({ revision: 1, owner: { version: 'v1' } });
  expect(world.document('files', 'a')).toMatchObject({
    version: 'v2',
    pool: world.pool('a')?.id,
    fault: { kind: 'invalid', message: 'This is not JSON.', place: 'line 3, column 7' },
  });
  expect(world.pool('b')?.spec.scaling.maxAgents).toBe(2);
  expect(world.events('document.refused')).toHaveLength(1);
  expect(world.lines.filter(({ message }) => message === 'document refused')).toEqual([
    expect.objectContaining({ fields: expect.objectContaining({ provisioner: 'files', document: 'a' }) }),
  ]);
});

it('reads a bad document again on every interval, since what refused it may be fixed elsewhere', async () => {
  const source = fakeSource({ a: text('a') });
  let isMended = false;
  const world = await openWorld([opened('files', source)], {
    readPool: (_text, { trust }) => {
      if (!isMended) return { problems: [{ path: '', message: 'No such backend.' }] };
      return { spec: { ...specOf({ name: 'a' }), description: trust } };
    },
  });
  expect(world.pool('a')).toBeUndefined();

  isMended = true;
  await world.intervals();

  expect(world.pool('a')?.spec.description).toBe('foreign');
  expect(world.document('files', 'a')?.fault).toBeUndefined();
});

it('takes a reader that throws for a fault of that document alone', async () => {
  const source = fakeSource({ a: 'throw', b: text('b') });

  const world = await openWorld([opened('files', source)], {
    readPool: (content) => {
      if (content === 'throw') throw new TypeError('reader broke');
      return { spec: specOf({ name: 'b' }) };
    },
  });

  expect(world.pool('b')).toBeDefined();
  expect(world.document('files', 'a')?.fault).toMatchObject({ kind: 'internal', message: 'reader broke' });
});

it('shows a document that the source could not read, and applies the others', async () => {
  const source = fakeSource({ a: text('a') });
  const { documents } = source;
  source.documents = async (held, signal) => [
    ...(await documents(held, signal)),
    { key: 'b', version: '?', fault: new Fault('denied', 'May not be read.') },
  ];

  const world = await openWorld([opened('files', source)]);

  expect(world.pool('a')).toBeDefined();
  expect(world.document('files', 'b')?.fault).toMatchObject({ kind: 'denied', message: 'May not be read.' });
});

it('names a source that sends neither text nor a version that was read', async () => {
  const source = fakeSource({ a: text('a') });
  source.documents = async () => [{ key: 'a', version: 'v9' }];

  const world = await openWorld([opened('files', source)]);

  expect(world.document('files', 'a')?.fault?.kind).toBe('internal');
});

it('forgets a bad document that is gone', async () => {
  const source = fakeSource({ a: 'bad' });
  const world = await openWorld([opened('files', source)]);
  expect(world.document('files', 'a')?.fault).toBeDefined();

  source.remove('a');
  await world.intervals();

  expect(world.document('files', 'a')).toBeUndefined();
});

it.each([
  [{ name: 'web', kind: 'process' }, { backends: ['aws', 'gcp'] }, 'auto_scaler.backend', '"process"'],
  [{ name: 'web', max: 11 }, { maxAgents: 10 }, 'auto_scaler.max_agents', 'at most 10'],
  [{ name: 'web' }, { namePrefix: 'team-' }, 'name', '"team-"'],
  [{ name: 'web' }, { namespaces: ['ml', 'default'] }, 'metadata.namespace', 'ml, default'],
])('refuses %j where only %j is allowed', async (pool, allow, place, reason) => {
  const world = await openWorld([opened('team', fakeSource({ k: text(pool) }), { allow })]);

  expect(world.pool('web')).toBeUndefined();
  expect(world.document('team', 'k')?.fault).toMatchObject({ kind: 'denied', place });
  expect(world.document('team', 'k')?.fault?.message).toContain(reason);
});

it('lets through what is within the limits', async () => {
  const allow = { backends: ['aws'], maxAgents: 10, namePrefix: 'team-' };

  const world = await openWorld([
    opened('team', fakeSource({ k: text({ name: 'team-a', kind: 'aws', max: 10 }) }), { allow }),
  ]);

  expect(world.pool('team-a')).toBeDefined();
});

it('tells the reader whose document it is: operator-only kinds are refused to foreign ones', async () => {
  const document = { k: text({ name: 'a', kind: 'command' }) };

  const foreign = await openWorld([opened('s', fakeSource(document))]);
  const own = await openWorld([opened('s', fakeSource(document), { trust: 'operator' })]);

  expect(foreign.pool('a')).toBeUndefined();
  expect(foreign.document('s', 'k')?.fault?.message).toContain('Only the operator');
  expect(own.pool('a')).toBeDefined();
});

it('reads everything again after a restart, and writes no pool that is unchanged', async () => {
  const source = fakeSource({ a: text({ name: 'a', description: 'x' }), b: text('b') });
  const first = await openWorld([opened('files', source)]);
  await first.stop();
  // What a database gives back has no undefined keys, and may order keys as it likes.
  for (const [id, row] of first.disk.rows.get('pools') ?? []) {
    const { spec, ...rest } = JSON.parse(JSON.stringify(row));
    const turned = Object.fromEntries(Object.entries(spec).reverse());
    first.disk.rows.get('pools')?.set(id, { ...rest, spec: turned });
  }

  const second = await openWorld([opened('files', source)], first);

  expect(source.textsSent).toBe(4);
  expect(second.pool('a')?.revision).toBe(1);
  expect(second.eventKinds()).toEqual(['pool.created', 'pool.created']);
});

it('applies tightened rules after a restart: the pool keeps running, its document is refused', async () => {
  const source = fakeSource({ a: text({ name: 'a', max: 50 }) });
  const first = await openWorld([opened('files', source)]);
  await first.stop();

  const second = await openWorld([opened('files', source, { allow: { maxAgents: 10 } })], first);

  expect(second.pool('a')?.spec.scaling.maxAgents).toBe(50);
  expect(second.document('files', 'a')?.fault?.kind).toBe('denied');
});
