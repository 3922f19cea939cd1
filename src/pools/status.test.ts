import { expect, it } from 'vitest';
import { listSources, type StatusWorld, sourceStatus, teamOf } from './status.ts';
import { ALICE, fakeSource, opened, openWorld, outage, text, type World } from './testing/world.ts';

const statusWorld = ({ store, pools, clock }: World): StatusWorld => ({
  view: store.view,
  timings: pools.timings(),
  nowMs: clock.now(),
});

it('tells of a source when it was read, how long that took, and how its documents are', async () => {
  const source = fakeSource({ a: text('a'), b: text('b'), bad: '{' });
  const { documents } = source;
  const world = await openWorld([]);
  source.documents = async (held, signal) => {
    await world.clock.sleep(250);
    return documents(held, signal);
  };
  world.pools.setSources([opened('files', source)]);
  await world.clock.advance(250);
  source.remove('b');
  await world.intervals();
  await world.clock.advance(1_000);

  const status = sourceStatus(statusWorld(world), 'files');

  expect(status).toMatchObject({
    id: 'files',
    kind: 'fake',
    isConfigured: true,
    everyMs: 60_000,
    durationMs: 250,
    failures: 0,
    pools: 2,
    documents: 3,
    faulty: 1,
    missing: 1,
  });
  expect(status?.ageMs).toBe(world.clock.now() - (status?.lastGoodAt ?? 0));
  expect(status?.ageMs).toBeGreaterThanOrEqual(1_000);
});

it('keeps the age true while nothing changes and nothing is written', async () => {
  const world = await openWorld([opened('files', fakeSource({ a: text('a') }))]);

  await world.intervals(10);

  expect(sourceStatus(statusWorld(world), 'files')?.ageMs).toBeLessThan(67_000);
});

it('shows the fault and the failures in a row of a source that cannot be read', async () => {
  const source = fakeSource();
  source.fault = outage();
  const world = await openWorld([opened('files', source)]);

  await world.intervals();

  const status = sourceStatus(statusWorld(world), 'files');
  expect(status).toMatchObject({ fault: { kind: 'unavailable' } });
  expect(status?.failures).toBeGreaterThan(1);
  expect(status?.lastGoodAt).toBeUndefined();
});

it('lists the API, the configured sources, and one that vanished with pools of its own', async () => {
  const first = await openWorld([opened('gone', fakeSource({ a: text('a') })), opened('here', fakeSource())]);
  await first.pools.define(text('b'), {}, ALICE);
  await first.stop();

  const second = await openWorld([opened('here', fakeSource())], first);

  const rows = listSources(statusWorld(second));
  expect(rows.map(({ id, isConfigured, pools }) => [id, isConfigured, pools])).toEqual([
    ['api', true, 1],
    ['gone', false, 1],
    ['here', true, 0],
  ]);
  expect(rows[1]?.held?.keys).toEqual(['a']);
  expect(sourceStatus(statusWorld(second), 'nobody')).toBeUndefined();
});

it('keeps of each document its version, pool, and what is wrong where', async () => {
  const source = fakeSource({ 'ml/training.yaml': text('training'), 'bad.yaml': '{' });
  const world = await openWorld([opened('files', source)]);

  expect(world.document('files', 'bad.yaml')).toMatchObject({
    version: 'v1',
    fault: { message: 'This is not JSON.', place: 'line 3, column 7' },
  });
  expect(world.document('files', 'ml/training.yaml')).toMatchObject({
    readAt: world.clock.now(),
    pool: world.pool('training')?.id,
    missed: 0,
  });
});

it('tells since when a version is there, whatever else is read meanwhile', async () => {
  const source = fakeSource({ a: text('a'), b: text('b'), bad: '{' });
  const world = await openWorld([opened('files', source)]);
  const startedAt = world.clock.now();
  await world.intervals(2);
  source.put('b', text({ name: 'b', max: 4 }));

  await world.list('files');

  const since = ['a', 'b', 'bad'].map((key) => world.document('files', key)?.readAt);
  expect(since).toEqual([startedAt, world.clock.now(), startedAt]);
});

it('tells teams by the folders below the place that the source reads', async () => {
  const world = await openWorld([
    { ...opened('ssm', fakeSource()), place: 'us-west-2:/velda/pools/' },
    { ...opened('gcs', fakeSource()), place: 'velda-pool-configs/pools/' },
  ]);
  const keys = ['/velda/pools/a', '/velda/pools/ml/b', '/velda/pools/ml/x/c'];

  expect(keys.map((key) => teamOf(world.store, 'ssm', key))).toEqual([undefined, 'ml', 'ml/x']);
  const names = ['pools/a.json', 'pools/ml/b.json', 'pools/ml/x/c'];
  expect(names.map((name) => teamOf(world.store, 'gcs', name))).toEqual([undefined, 'ml', 'ml/x']);
});

it('tells what a source says of how it read its configuration', async () => {
  const source = { ...fakeSource({ a: text('a') }), notes: () => ['"p4." is read as a generation'] };
  const world = await openWorld([opened('auto', source)]);

  expect(sourceStatus(statusWorld(world), 'auto')?.notes).toEqual(['"p4." is read as a generation']);
  expect(sourceStatus(statusWorld(world), 'api')?.notes ?? []).toEqual([]);
});
