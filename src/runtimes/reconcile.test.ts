import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { emptyDisk } from '#store/memory.ts';
import { CALLER, faultOfCall, memorySet, openRuntimesScene, phases, settingsOf } from './testing/scene.ts';

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
  const checked = scene.runtimes.check('a');
  await scene.clock.advance(2_000);
  await checked;

  expect(scene.memory.objects.get('a')?.digest).toBe('two 3 latest');
  await scene.stop();
});

test('a template that no longer renders leaves a ready runtime ready, and says why it is not checked', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  const seen = async () => {
    const checked = scene.runtimes.check('a');
    await scene.clock.advance(2_000);
    const { phase, why } = await checked;
    return { phase, why };
  };

  scene.memory.template = 'broken';
  expect(await seen()).toEqual({ phase: 'ready', why: 'statefulset.yaml:3:7: the template does not render.' });
  scene.memory.template = 'one';
  expect(await seen()).toEqual({ phase: 'ready', why: undefined });
  await scene.stop();
});

test('a check answers what it found, also where the cluster does not answer', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  const answer = async () => {
    const checked = scene.runtimes.check('a');
    await scene.clock.advance(100);
    const { phase, why } = await checked;
    return { phase, why };
  };

  scene.memory.next = { state: 'coming' };
  scene.memory.objects.delete('a');
  expect(await answer()).toEqual({ phase: 'updating', why: 'Its objects are applied.' });

  Object.assign(scene.memory.objects.get('a') ?? {}, { state: 'ready' });
  expect(await answer()).toEqual({ phase: 'ready', why: undefined });
  scene.memory.fault = new Fault('denied', 'The token may not list services.');
  expect(await answer()).toEqual({ phase: 'error', why: 'The token may not list services.' });
  await scene.stop();
});

describe('a request that comes while a pass looks at the runtime', () => {
  const opened = async () => {
    const scene = await openRuntimesScene();
    await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
    await scene.clock.advance(1_000);
    const observed = Promise.withResolvers<void>();
    scene.memory.observing = observed.promise;
    const checked = scene.runtimes.check('a');
    await scene.clock.advance(100);
    const seen: string[] = [];
    scene.store.onChange('runtimes', (after) => seen.push(after ? `${after.wanted} ${after.phase}` : 'gone'));
    const answer = async () => {
      scene.memory.observing = undefined;
      observed.resolve();
      await scene.clock.advance(10_000);
      await checked;
      return seen;
    };
    return { ...scene, answer };
  };

  test('is never called ready by that pass: a removal', async () => {
    const { runtimes, answer, stop } = await opened();
    await runtimes.remove('a', CALLER);

    expect(await answer()).toEqual(['gone releasing', 'gone']);
    await stop();
  });

  test('is never called ready by that pass: a resize', async () => {
    const { runtimes, memory, answer, stop } = await opened();
    memory.next = { state: 'coming' };
    await runtimes.edit('a', { slots: 2 }, CALLER);

    expect(await answer()).not.toContain('running ready');
    await stop();
  });
});

test('two edits at once both count', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);

  await Promise.all([
    scene.runtimes.edit('a', { slots: 3 }, CALLER),
    scene.runtimes.edit('a', { version: '2.0' }, CALLER),
  ]);

  expect(scene.store.view.runtimes.get('a')).toMatchObject({ slots: 3, version: '2.0' });
  await scene.stop();
});

test('the version latest pins nothing', async () => {
  const scene = await openRuntimesScene({ settings: memorySet({ latestVersion: '1.0' }) });
  await scene.runtimes.create({ id: 'a', slots: 1, version: 'latest' }, CALLER);
  await scene.runtimes.create({ id: 'b', slots: 1, version: '0.9' }, CALLER);
  await scene.runtimes.edit('b', { version: 'latest' }, CALLER);

  expect([...scene.store.view.runtimes.all()].map(({ version }) => version)).toEqual([undefined, undefined]);
  expect((await scene.runtimes.render({ slots: 1, version: 'latest' })).digest).toBe('one 1 1.0');
  await scene.stop();
});

test('one that was ready has its whole time to come back', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(10 * MINUTE_MS);
  Object.assign(scene.memory.objects.get('a') ?? {}, { state: 'coming', why: 'Its pod moves to another node.' });
  const checked = scene.runtimes.check('a');
  await scene.clock.advance(29_000);
  await checked;
  expect(phases(scene)).toEqual({ a: 'updating' });

  await scene.clock.advance(5_000);

  expect(scene.store.view.runtimes.get('a')?.why).toBe(
    'It was not ready within 30 seconds: Its pod moves to another node.',
  );
  await scene.stop();
});

test('a runtime that others change back at once is repaired less and less often', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  scene.memory.next = { state: 'drifted' };
  Object.assign(scene.memory.objects.get('a') ?? {}, { state: 'drifted' });
  const checked = scene.runtimes.check('a');

  await scene.clock.advance(10 * MINUTE_MS);
  await checked;

  expect(scene.memory.calls.filter((call) => call === 'apply a').length).toBeLessThan(15);
  await scene.stop();
});

test('where the provisioner names another place, its objects are neither left behind nor made twice', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.runtimes.create({ id: 'b', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  const objects = new Map(scene.memory.objects);
  scene.memory.objects.clear();
  scene.memory.cloud = 'elsewhere';
  await scene.runtimes.remove('b', CALLER);
  scene.runtimes.configure(
    settingsOf({ ...memorySet(), provisioners: { cluster: { type: 'memory_runtime', spec: { at: 2 } } } }),
  );
  await scene.clock.advance(5_000);

  expect(scene.memory.objects.size).toBe(0);
  expect(phases(scene)).toEqual({ a: 'error', b: 'error' });
  expect(scene.store.view.runtimes.get('a')?.why).toContain(
    'Its objects are in memory; provisioner cluster now names elsewhere.',
  );

  // The same place under another address.
  for (const [id, object] of objects) scene.memory.objects.set(id, object);
  scene.runtimes.configure(
    settingsOf({ ...memorySet(), provisioners: { cluster: { type: 'memory_runtime', spec: { at: 3 } } } }),
  );
  await scene.clock.advance(5_000);
  expect(phases(scene)).toEqual({ a: 'ready' });
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
  const decisions = await scene.store.history.decisions({ subject: 'runtime/a' }, { limit: 9, order: 'newest first' });
  expect(decisions.map(({ did, reason }) => `${did} ${reason?.code}`)).toEqual([
    'apply woken',
    'wake requested',
    'hibernate requested',
    'apply first-apply',
  ]);
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

test('a runtime that is requested while objects of its id are removed as orphans gets its own when those are gone', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  const known = scene.memory.objects.get('a');
  if (known) scene.memory.objects.set('lost', { ...known });
  const released = Promise.withResolvers<void>();
  scene.memory.releasing = released.promise;
  await scene.clock.advance(20 * MINUTE_MS);
  expect(scene.memory.calls).toContain('release lost');

  await scene.runtimes.create({ id: 'lost', slots: 2 }, CALLER);
  await scene.clock.advance(5_000);
  expect(scene.memory.calls).not.toContain('apply lost');
  released.resolve();
  await scene.clock.advance(5_000);

  expect(scene.memory.objects.get('lost')?.request.slots).toBe(2);
  expect(phases(scene)).toEqual({ a: 'ready', lost: 'ready' });
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
