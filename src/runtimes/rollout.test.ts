import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { emptyDisk } from '#store/memory.ts';
import { CALLER, memorySet, openRuntimesScene, phases, settingsOf } from './testing/scene.ts';

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

  test('does not keep those that wait for it from being repaired, and goes on when the others came up after all', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'failed', why: 'ImagePullBackOff: no such image.' };
    scene.runtimes.configure(settingsOf(memorySet({ latestVersion: '1.1', maxUpdating: 1, haltAfter: 1 })));
    await scene.clock.advance(MINUTE_MS);
    const waiting = [...scene.store.view.runtimes.all()].find(({ applied }) => applied?.version === '1.0')?.id ?? '';

    scene.memory.objects.delete(waiting);
    scene.memory.next = { state: 'ready' };
    await scene.clock.advance(20 * MINUTE_MS);
    expect(scene.memory.objects.get(waiting)?.request.version).toBe('1.0');

    for (const object of scene.memory.objects.values()) object.state = 'ready';
    await scene.clock.advance(20_000);
    expect(versions(scene)).toEqual(['0.9', '1.1', '1.1', '1.1', '1.1', '1.1']);
    await scene.stop();
  });

  test('reaches no more at a time where all of them are in error', async () => {
    const scene = await opened();
    for (const object of scene.memory.objects.values()) Object.assign(object, { state: 'failed' });
    const checked = ids.map((id) => scene.runtimes.check(id));
    await scene.clock.advance(5_000);
    await Promise.all(checked);
    expect(phases(scene)).toMatchObject({ a: 'error', e: 'error' });
    scene.memory.next = { state: 'coming' };

    scene.runtimes.configure(settingsOf(memorySet({ latestVersion: '1.1', maxUpdating: 2 })));
    await scene.clock.advance(20_000);

    expect(versions(scene)).toEqual(['0.9', '1.0', '1.0', '1.0', '1.1', '1.1']);
    await scene.stop();
  });

  test('asks the cluster about no runtime that has it already', async () => {
    const scene = await opened();
    await scene.clock.advance(MINUTE_MS);
    const observed = () => scene.memory.calls.filter((call) => call === 'observe pinned').length;
    scene.memory.next = { state: 'coming' };
    scene.runtimes.configure(settingsOf(memorySet({ latestVersion: '1.1', maxUpdating: 1 })));
    await scene.clock.advance(500);
    const before = observed();

    for (const _ of ids) {
      for (const object of scene.memory.objects.values()) object.state = 'ready';
      await scene.clock.advance(3_000);
    }

    expect(versions(scene)).toEqual(['0.9', '1.1', '1.1', '1.1', '1.1', '1.1']);
    expect(observed()).toBe(before);
    await scene.stop();
  });
});

describe('changed templates', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  const limits = { maxUpdating: 3, haltAfter: 2 };
  const opened = async () => {
    const scene = await openRuntimesScene({ settings: memorySet(limits) });
    for (const [at, id] of ids.entries()) {
      // Pinned ones too, each to a version of its own: templates are the same for all.
      await scene.runtimes.create({ id, slots: 1, version: at % 2 === 0 ? `0.${at}` : undefined }, CALLER);
    }
    await scene.clock.advance(2_000);
    return scene;
  };
  type Scene = Awaited<ReturnType<typeof opened>>;
  /** A reload of the configuration makes the server look at all of them. */
  const change = (scene: Scene, template: string, more: object = {}) => {
    scene.memory.template = template;
    scene.runtimes.configure(settingsOf(memorySet({ ...limits, ...more })));
  };
  const digests = ({ memory }: Scene) => [...memory.objects.values()].map(({ digest }) => digest.split(' ')[0]).sort();
  const counted = (scene: Scene, template: string) => digests(scene).filter((one) => one === template).length;
  const newest = async ({ store }: Scene, id: string) => {
    const [last] = await store.history.decisions({ subject: `runtime/${id}` }, { limit: 1, order: 'newest first' });
    return last;
  };

  test('that break runtimes reach at most max_updating of them, and are then halted', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'failed', why: 'CrashLoopBackOff.' };

    change(scene, 'two');
    await scene.clock.advance(60 * MINUTE_MS);

    expect(counted(scene, 'two')).toBe(3);
    expect(Object.values(phases(scene)).filter((phase) => phase === 'ready')).toHaveLength(6);
    const waiting = ids.find((id) => phases(scene)[id] === 'ready') ?? '';
    expect(await newest(scene, waiting)).toMatchObject({
      did: 'nothing',
      reason: { code: 'templates-halted' },
      why: '3 runtimes did not become ready with the new templates.',
    });
    await scene.stop();
  });

  test('that the cluster refuses to apply are halted too, and stay so while those are tried again', async () => {
    const scene = await opened();
    scene.memory.applying = new Fault('invalid', 'duplicate entries for key [containerPort=8080].');

    change(scene, 'two');
    await scene.clock.advance(60 * MINUTE_MS);

    const tried = new Set(scene.memory.calls.filter((call) => call.startsWith('apply')).slice(ids.length));
    expect(tried.size).toBe(3);
    await scene.stop();
  });

  test('that work reach all, a few at a time, and the corrected ones after a halt reach those in error too', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'failed', why: 'CrashLoopBackOff.' };
    change(scene, 'two');
    await scene.clock.advance(MINUTE_MS);
    scene.memory.next = { state: 'coming' };

    change(scene, 'three');
    await scene.clock.advance(10_000);
    expect(counted(scene, 'three')).toBe(3);
    scene.memory.next = { state: 'ready' };
    for (const object of scene.memory.objects.values()) object.state = 'ready';
    await scene.clock.advance(30_000);

    expect(counted(scene, 'three')).toBe(9);
    expect(new Set(Object.values(phases(scene)))).toEqual(new Set(['ready']));
    await scene.stop();
  });

  test('do not hold back what a caller asks of one runtime', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'failed', why: 'CrashLoopBackOff.' };
    change(scene, 'two');
    await scene.clock.advance(MINUTE_MS);
    const waiting = ids.find((id) => phases(scene)[id] === 'ready') ?? '';

    scene.memory.next = { state: 'ready' };
    await scene.runtimes.edit(waiting, { slots: 2 }, CALLER);
    await scene.clock.advance(2_000);

    expect(scene.memory.objects.get(waiting)?.digest).toMatch(/^two 2 /);
    await scene.stop();
  });

  test('leave one that waits for them as it is, and say so where an object of it is missing', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'failed', why: 'CrashLoopBackOff.' };
    change(scene, 'two');
    await scene.clock.advance(MINUTE_MS);
    const waiting = ids.find((id) => phases(scene)[id] === 'ready') ?? '';

    scene.memory.objects.delete(waiting);
    const checked = scene.runtimes.check(waiting);
    await scene.clock.advance(2_000);
    await checked;

    expect(scene.memory.objects.has(waiting)).toBe(false);
    expect(scene.store.view.runtimes.get(waiting)).toMatchObject({
      phase: 'error',
      why: 'Its objects are missing. They are repaired when the changed templates reach it: 3 runtimes did not become ready with the new templates.',
    });
    change(scene, 'three');
    scene.memory.next = { state: 'ready' };
    await scene.clock.advance(MINUTE_MS);
    expect(phases(scene)[waiting]).toBe('ready');
    await scene.stop();
  });

  test('and a new version at once reach no more than max_updating together', async () => {
    const scene = await opened();
    scene.memory.next = { state: 'coming' };

    change(scene, 'two', { latestVersion: '2.0' });
    await scene.clock.advance(10_000);

    expect(counted(scene, 'two')).toBe(3);
    await scene.stop();
  });

  test('halt also after a restart of the server', async () => {
    const disk = emptyDisk();
    const first = await openRuntimesScene({ disk, settings: memorySet(limits) });
    for (const id of ids) await first.runtimes.create({ id, slots: 1 }, CALLER);
    await first.clock.advance(2_000);
    const { memory, clock } = first;
    memory.next = { state: 'failed', why: 'CrashLoopBackOff.' };
    change(first, 'two');
    await clock.advance(MINUTE_MS);
    await first.stop();

    const second = await openRuntimesScene({ disk, memory, clock, settings: memorySet(limits) });
    await clock.advance(60 * MINUTE_MS);

    expect(counted(second, 'two')).toBe(3);
    await second.stop();
  });
});
