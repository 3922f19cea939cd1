import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { CALLER, openRuntimesScene, phases } from './testing/scene.ts';

describe('a runtime whose objects the cluster refuses for now', () => {
  const REFUSED = 'duplicate entries for key [containerPort=8080,protocol="TCP"]';
  const refused = async () => {
    const scene = await openRuntimesScene();
    scene.memory.applying = new Fault('unavailable', REFUSED);
    await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
    return scene;
  };
  const shown = ({ store }: Awaited<ReturnType<typeof refused>>) => store.view.runtimes.get('a');

  test('is in error with the words of the cluster when its time is up, to the second', async () => {
    const scene = await refused();
    await scene.clock.advance(29_000);
    expect(shown(scene)).toMatchObject({ phase: 'provisioning', why: REFUSED });

    await scene.clock.advance(1_100);

    expect(shown(scene)).toMatchObject({ phase: 'error', why: `It was not ready within 30 seconds: ${REFUSED}` });
    await scene.stop();
  });

  test('stays in error while it is tried again, and is ready once the cluster takes it', async () => {
    const scene = await refused();
    await scene.clock.advance(31_000);
    const seen: string[] = [];
    scene.store.onChange('runtimes', (after) => seen.push(after?.phase ?? 'gone'));

    await scene.clock.advance(10 * MINUTE_MS);
    expect(new Set(seen)).toEqual(new Set(['error']));
    expect(shown(scene)?.why).toBe(REFUSED);
    scene.memory.applying = undefined;
    await scene.clock.advance(2 * MINUTE_MS);

    expect(phases(scene)).toEqual({ a: 'ready' });
    await scene.stop();
  });

  test('is in error in time though the cluster never answers', async () => {
    const scene = await openRuntimesScene();
    scene.memory.applying = new Promise(() => {});
    await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);

    await scene.clock.advance(61_000);

    expect(shown(scene)).toMatchObject({ phase: 'error' });
    await scene.stop();
  });
});

describe.each(['missing', 'denied'] as const)('a cluster whose namespace is %s at first', (kind) => {
  test('is tried again within ten seconds, and logged once', async () => {
    const scene = await openRuntimesScene();
    scene.memory.applying = new Fault(kind, 'namespaces "cloud-runtime" not found');
    await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
    await scene.clock.advance(10 * MINUTE_MS);
    expect(scene.store.view.runtimes.get('a')).toMatchObject({
      phase: 'error',
      why: 'namespaces "cloud-runtime" not found',
    });
    expect(scene.lines.filter(({ said }) => said === 'pass failed')).toHaveLength(1);

    scene.memory.applying = undefined;
    await scene.clock.advance(10_000);

    expect(phases(scene)).toEqual({ a: 'ready' });
    await scene.stop();
  });
});

test('a runtime that is being removed says what it waits for, also where its host does not', async () => {
  const scene = await openRuntimesScene();
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(1_000);
  scene.memory.afterRelease = { state: 'coming', why: 'Claim data-a waits for its finalizer.' };

  await scene.runtimes.remove('a', CALLER);
  await scene.clock.advance(2_000);
  expect(scene.store.view.runtimes.get('a')?.why).toBe('Claim data-a waits for its finalizer.');
  scene.memory.afterRelease = { state: 'hibernated' };
  await scene.clock.advance(2_000);

  expect(scene.store.view.runtimes.get('a')).toMatchObject({
    phase: 'releasing',
    why: 'Its objects are being deleted.',
  });
  await scene.stop();
});

test('a runtime that serves without all that was asked for is ready and says so, and is tried again at each check', async () => {
  const scene = await openRuntimesScene();
  scene.memory.next = { state: 'ready', trouble: 'Claim data-a cannot grow.' };
  await scene.runtimes.create({ id: 'a', slots: 1 }, CALLER);
  await scene.clock.advance(2_000);
  expect(scene.store.view.runtimes.get('a')).toMatchObject({ phase: 'ready', why: 'Claim data-a cannot grow.' });
  const applied = () => scene.memory.calls.filter((call) => call === 'apply a').length;
  const seen: string[] = [];
  scene.store.onChange('runtimes', (after) => seen.push(after?.phase ?? 'gone'));

  await scene.clock.advance(20 * MINUTE_MS);
  expect(applied()).toBe(2);
  scene.memory.next = { state: 'ready' };
  await scene.clock.advance(20 * MINUTE_MS);

  expect(new Set(seen)).toEqual(new Set(['ready']));
  expect(scene.store.view.runtimes.get('a')?.why).toBeUndefined();
  await scene.clock.advance(60 * MINUTE_MS);
  expect(applied()).toBe(3);
  await scene.stop();
});
