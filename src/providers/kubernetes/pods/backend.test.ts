import { describe, expect, it } from 'vitest';
import { going } from '#core/testing/going.ts';
import { CLUSTER, openKubeScene, openPodsAt } from '../testing.ts';

const launch = (...names: readonly string[]) => ({
  id: `launch-${names[0]}`,
  mark: { cluster: CLUSTER, use: 'worker', owner: 'pool1', shape: 'aaaabbbbcccc' } as const,
  names,
  boot: { agentConfig: '{}', token: 'mlt_x' },
  askedAt: 0,
});

async function withPods(...names: readonly string[]) {
  const scene = openKubeScene();
  const backend = await openPodsAt(scene);
  await scene.during(backend.list(going()));
  await scene.during(backend.create(launch(...names), going()));
  await scene.clock.advance(5_000);
  return { scene, backend, listed: () => scene.during(backend.list(going())) };
}

describe('the pods of a pool', () => {
  it('are known with their addresses as soon as the cluster shows them, without a listing', async () => {
    const { backend, scene } = await withPods('m-1');
    const calls = scene.fake.calls.length;

    expect(backend.known?.('m-1')).toMatchObject({ name: 'm-1', state: 'running' });
    expect(backend.known?.('m-1')?.addresses).toHaveLength(1);
    expect(backend.known?.('m-2')).toBeUndefined();
    expect(scene.fake.calls.length).toBe(calls);
  });

  it('are the same machines in each listing, as long as nothing about them changes', async () => {
    const { listed, scene } = await withPods('m-1', 'm-2');
    const [first, second] = await listed();
    scene.fake.kubelet.exit('default', 'm-2', 7);
    await scene.clock.advance(10_000);

    const again = await listed();

    expect(again.find(({ name }) => name === first?.name)).toBe(first);
    expect(again.find(({ name }) => name === second?.name)).not.toBe(second);
  });

  it('are listed from the moment they are made, however late their watch is', async () => {
    const names = Array.from({ length: 501 }, (_, at) => `m-${at}`);
    const { backend, scene, listed } = await withPods(...names);
    scene.fake.failureRules.add({ action: 'watch pods', times: 100, what: { kind: 'hang' } });
    await scene.clock.advance(8_000);
    await scene.during(backend.create(launch('m-late'), going()));

    const all = await listed();

    expect([backend.isExact, backend.leastGapMs]).toEqual([undefined, 200]);
    expect(all.map(({ name }) => name)).toContain('m-late');
  });

  it('are listed less often where there are thousands', async () => {
    const { backend, scene } = await withPods();
    const names = Array.from({ length: 2_500 }, (_, at) => `m-${at}`);
    await scene.during(backend.create(launch(...names), going()));

    expect(backend.leastGapMs).toBe(250);
  });

  it('are made although the API server has too much to do for a moment', async () => {
    const { backend, scene } = await withPods();
    scene.fake.failureRules.add({ action: 'create pods', times: 3, what: { kind: 'throttle' } });

    const outcomes = await scene.during(backend.create(launch('m-1'), going()));

    expect(outcomes).toEqual([{ name: 'm-1' }]);
  });

  it('bring a hint when one of them changes', async () => {
    const { backend, scene } = await withPods('m-1');
    let hints = 0;
    const stopping = new AbortController();
    backend.watch?.(() => {
      hints += 1;
    }, stopping.signal);
    await scene.during(backend.create(launch('m-2'), going()));
    await scene.clock.advance(5_000);
    const heard = hints;
    stopping.abort();
    await scene.during(backend.create(launch('m-3'), going()));
    await scene.clock.advance(5_000);

    expect(heard).toBeGreaterThan(0);
    expect(hints).toBe(heard);
  });
});
