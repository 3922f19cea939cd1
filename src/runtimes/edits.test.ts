import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { CALLER, faultOfCall, memorySet, openRuntimesScene, phases, settingsOf, staticSet } from './testing/scene.ts';

const GIB = 2 ** 30;

describe('an edit', () => {
  const opened = async () => {
    const scene = await openRuntimesScene();
    await scene.runtimes.create({ id: 'a', slots: 1, annotations: { org: 'acme', plan: 'free' } }, CALLER);
    await scene.clock.advance(1_000);
    return scene;
  };

  test('changes annotations, environment and disk; what it leaves out stays', async () => {
    const scene = await opened();

    await scene.runtimes.edit('a', { annotations: { plan: 'pro', domain: 'acme.test' } }, CALLER);
    await scene.runtimes.edit('a', { environment: 'dev', annotations: { org: null } }, CALLER);
    await scene.runtimes.edit('a', { diskGb: 80 }, CALLER);
    await scene.clock.advance(2_000);

    expect(scene.store.view.runtimes.get('a')).toMatchObject({
      phase: 'ready',
      slots: 1,
      annotations: { plan: 'pro', domain: 'acme.test' },
      environment: 'dev',
      diskGb: 80,
      grant: { storageBytes: 80 * GIB },
    });
    expect(scene.memory.objects.get('a')?.request).toMatchObject({
      annotations: { plan: 'pro', domain: 'acme.test' },
      environment: 'dev',
      diskGb: 80,
    });
    expect((await scene.events()).filter((message) => message.includes('now has'))).toEqual([
      'Runtime a now has other annotations: domain, plan.',
      'Runtime a now has other annotations: org; environment dev.',
      'Runtime a now has a disk of 80 GiB.',
    ]);
    await scene.stop();
  });

  test('that asks for what is there already changes nothing', async () => {
    const scene = await opened();
    const before = scene.store.view.runtimes.get('a');

    await scene.runtimes.edit('a', { annotations: { plan: 'free', domain: null }, environment: 'prod' }, CALLER);

    expect(scene.store.view.runtimes.get('a')).toBe(before);
    await scene.stop();
  });

  test('of an annotation that no template uses applies nothing, and later templates still wait for their turn', async () => {
    const scene = await openRuntimesScene({ settings: memorySet({ maxUpdating: 1 }) });
    scene.memory.usesAnnotations = false;
    for (const id of ['a', 'b']) await scene.runtimes.create({ id, slots: 1 }, CALLER);
    await scene.clock.advance(1_000);
    for (const id of ['a', 'b']) await scene.runtimes.edit(id, { annotations: { plan: 'pro' } }, CALLER);
    await scene.clock.advance(MINUTE_MS);
    expect(phases(scene)).toEqual({ a: 'ready', b: 'ready' });
    expect(scene.memory.calls.filter((call) => call.startsWith('apply'))).toHaveLength(2);

    Object.assign(scene.memory, { template: 'two', next: { state: 'coming' } });
    scene.runtimes.configure(settingsOf(memorySet({ maxUpdating: 1 })));
    await scene.clock.advance(10_000);

    expect(scene.memory.calls.filter((call) => call.startsWith('apply'))).toHaveLength(3);
    await scene.stop();
  });

  test('cannot shrink the disk, whether slots or an earlier request gave it', async () => {
    const scene = await opened();

    const refused = await faultOfCall(scene.runtimes.edit('a', { diskGb: 39 }, CALLER));
    expect(refused).toMatchObject({ kind: 'invalid', at: 'body.disk_gb' });
    expect(refused.message).toBe('Runtime a has 40 GiB of storage: its disk can only grow.');
    await scene.runtimes.edit('a', { diskGb: 100 }, CALLER);
    expect((await faultOfCall(scene.runtimes.edit('a', { diskGb: 99 }, CALLER))).kind).toBe('invalid');
    await scene.stop();
  });

  test('cannot give more than a hundred annotations', async () => {
    const scene = await opened();
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`k${at}`, 'v']));

    const refused = await faultOfCall(scene.runtimes.edit('a', { annotations: many }, CALLER));

    expect(refused).toMatchObject({ kind: 'invalid', at: 'body.annotations' });
    await scene.stop();
  });

  test('changes the grant of a static runtime on its host, also where the host is full', async () => {
    const scene = await openRuntimesScene({ settings: staticSet(2, 2) });
    const { runtime } = await scene.runtimes.create({ id: 'a', slots: 2 }, CALLER);

    const after = await scene.runtimes.edit('a', { diskGb: 200, annotations: { plan: 'pro' } }, CALLER);

    expect(after).toMatchObject({
      host: runtime.host,
      phase: 'ready',
      annotations: { plan: 'pro' },
      grant: { cpu: 2, storageBytes: 200 * GIB },
    });
    await scene.stop();
  });
});
