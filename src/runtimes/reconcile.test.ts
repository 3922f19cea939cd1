import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { emptyDisk } from '#store/memory.ts';
import { CALLER, faultOfCall, memorySet, openRuntimesScene, settingsOf } from './testing/scene.ts';

const phases = ({ store }: Awaited<ReturnType<typeof openRuntimesScene>>) =>
  Object.fromEntries([...store.view.runtimes.all()].map(({ id, phase }) => [id, phase]));

test('a runtime is applied once, and ready only when it has answered', async () => {
  const scene = await openRuntimesScene();
  scene.memory.next = { state: 'coming', why: '0 of 1 replicas are available.' };
  await scene.runtimes.create({ id: 'a', slots: 2, version: '0.62.0' }, CALLER);

  await scene.clock.advance(5_000);
  expect(scene.store.view.runtimes.get('a')).toMatchObject({
    phase: 'provisioning',
    why: '0 of 1 replicas are available.',
    grant: { host: 'http://a.test', cpu: 2 },
  });
  Object.assign(scene.memory.objects.get('a') ?? {}, { state: 'ready' });
  await scene.clock.advance(2_000);

  expect(scene.store.view.runtimes.get('a')).toMatchObject({ phase: 'ready', applied: { version: '0.62.0' } });
  expect(scene.memory.calls.filter((call) => call === 'apply a')).toHaveLength(1);
  await scene.stop();
});

test('one that does not answer in time is in error with what it waits for, and ready when it answers after all', async () => {
  const scene = await openRuntimesScene();
  scene.memory.next = { state: 'coming', why: 'GET /v1/ping answered 404.' };
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);

  await scene.clock.advance(40_000);
  expect(scene.store.view.runtimes.get('a')).toMatchObject({
    phase: 'error',
    why: 'It was not ready within 30 seconds: GET /v1/ping answered 404.',
  });
  Object.assign(scene.memory.objects.get('a') ?? {}, { state: 'ready' });
  await scene.clock.advance(20_000);

  expect(phases(scene)).toEqual({ a: 'ready' });
  await scene.stop();
});

test('templates that do not render refuse the request; nothing is stored or applied', async () => {
  const scene = await openRuntimesScene();

  const refused = await faultOfCall(scene.runtimes.create({ id: 'a', slots: 1, version: 'broken' }, CALLER));

  expect(refused.message).toContain('statefulset.yaml:3:7');
  expect(scene.store.view.runtimes.size).toBe(0);
  expect(scene.memory.calls.filter((call) => call.startsWith('apply'))).toEqual([]);
  await scene.stop();
});

test('a check repairs what others removed, and applies nothing where nothing differs', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(60 * MINUTE_MS);
  expect(scene.memory.calls.filter((call) => call === 'apply a')).toHaveLength(1);

  scene.memory.objects.delete('a');
  await scene.clock.advance(20 * MINUTE_MS);

  expect(phases(scene)).toEqual({ a: 'ready' });
  expect(scene.memory.objects.has('a')).toBe(true);
  const [last] = await scene.store.history.decisions({ subject: 'runtime/a' }, { limit: 1, order: 'newest first' });
  expect(last).toMatchObject({ did: 'repair', reason: { code: 'drifted' } });
  await scene.stop();
});

test('a resize and a changed template are applied again', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  await scene.runtimes.edit('a', { slots: 3 }, CALLER);
  await scene.clock.advance(2_000);
  expect(scene.store.view.runtimes.get('a')).toMatchObject({ phase: 'ready', grant: { cpu: 3 } });

  scene.memory.template = 'two';
  await scene.runtimes.check('a');
  await scene.clock.advance(2_000);

  expect(scene.memory.objects.get('a')?.digest).toBe('two 3 latest');
  await scene.stop();
});

test('hibernate keeps its data and applies nothing; wake applies again', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);

  await scene.runtimes.hibernate('a', CALLER);
  await scene.clock.advance(60 * MINUTE_MS);
  expect(phases(scene)).toEqual({ a: 'hibernated' });
  expect(scene.memory.objects.get('a')?.state).toBe('hibernated');
  expect(scene.memory.calls.filter((call) => call === 'apply a')).toHaveLength(1);

  await scene.runtimes.wake('a', CALLER);
  await scene.clock.advance(2_000);
  expect(phases(scene)).toEqual({ a: 'ready' });
  await scene.stop();
});

test('a removed runtime is shown until nothing of it exists', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  scene.memory.fault = new Fault('unavailable', 'The API server is away.');

  await scene.runtimes.remove('a', CALLER);
  await scene.clock.advance(5_000);
  expect(scene.store.view.runtimes.get('a')).toMatchObject({ phase: 'releasing', why: 'The API server is away.' });
  scene.memory.fault = undefined;
  await scene.clock.advance(60_000);

  expect(scene.store.view.runtimes.size).toBe(0);
  expect(scene.memory.objects.size).toBe(0);
  await scene.stop();
});

describe('a new version', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const opened = async () => {
    const scene = await openRuntimesScene({ settings: memorySet({ latestVersion: '1.0', maxUpdating: 2 }) });
    for (const id of ids) await scene.runtimes.create({ id, slots: 1 }, CALLER);
    await scene.runtimes.create({ id: 'pinned', slots: 1, version: '0.9' }, CALLER);
    await scene.clock.advance(2_000);
    return scene;
  };
  const versions = ({ memory }: Awaited<ReturnType<typeof opened>>) =>
    [...memory.objects.values()].map(({ request }) => request.version).sort();

  test('reaches the runtimes that are not pinned, a few at a time', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'coming' };

    scene.runtimes.configure(settingsOf(memorySet({ latestVersion: '1.1', maxUpdating: 2 })));
    await scene.clock.advance(10_000);
    expect(versions(scene)).toEqual(['0.9', '1.0', '1.0', '1.0', '1.1', '1.1']);

    scene.memory.next = { state: 'ready' };
    for (const object of scene.memory.objects.values()) object.state = 'ready';
    await scene.clock.advance(30_000);
    expect(versions(scene)).toEqual(['0.9', '1.1', '1.1', '1.1', '1.1', '1.1']);
    expect(new Set(Object.values(phases(scene)))).toEqual(new Set(['ready']));
    await scene.stop();
  });

  test('is halted when those that got it do not become ready, and the others stay as they are', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'failed', why: 'ImagePullBackOff: no such image.' };

    scene.runtimes.configure(settingsOf(memorySet({ latestVersion: '1.1', maxUpdating: 1, haltAfter: 2 })));
    await scene.clock.advance(10 * MINUTE_MS);

    expect(versions(scene)).toEqual(['0.9', '1.0', '1.0', '1.0', '1.1', '1.1']);
    expect(Object.values(phases(scene)).filter((phase) => phase === 'error')).toHaveLength(2);
    const waiting = [...scene.store.view.runtimes.all()].find(({ applied }) => applied?.version === '1.0');
    const [last] = await scene.store.history.decisions(
      { subject: `runtime/${waiting?.id}` },
      { limit: 1, order: 'newest first' },
    );
    expect(last).toMatchObject({ did: 'nothing', reason: { code: 'halted', with: { version: '1.1' } } });
    await scene.stop();
  });
});

test('objects of runtimes that no row knows are removed, and reported once', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  const known = scene.memory.objects.get('a');
  if (known) scene.memory.objects.set('lost', { ...known });

  await scene.clock.advance(40 * MINUTE_MS);

  expect([...scene.memory.objects.keys()]).toEqual(['a']);
  expect((await scene.events()).filter((message) => message.includes('runtime lost'))).toEqual([
    'Provisioner cluster has objects of a runtime lost that this server does not know. They are being removed.',
  ]);
  await scene.stop();
});

test('dropped at any moment, the next start finishes what was asked for', async () => {
  for (let at = 0; at < 12; at++) {
    const disk = emptyDisk();
    const first = await openRuntimesScene({ disk });
    first.memory.next = { state: 'coming' };
    await first.runtimes.create({ id: 'a', slots: 1 }, CALLER);
    await first.clock.advance(at * 150);
    if (at % 2 === 1) await first.runtimes.remove('a', CALLER);
    await first.stop();

    const { memory } = first;
    memory.next = { state: 'ready' };
    for (const object of memory.objects.values()) object.state = 'ready';
    const second = await openRuntimesScene({ disk, memory });
    await second.clock.advance(60_000);

    expect(phases(second)).toEqual(at % 2 === 1 ? {} : { a: 'ready' });
    expect([...memory.objects.keys()]).toEqual(at % 2 === 1 ? [] : ['a']);
    await second.stop();
  }
});
