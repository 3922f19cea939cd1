import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
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
