// Others who write at the same time: the scheduler, controllers of nodes, another Muster.
import { describe, expect, inject, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { seededRandom } from '#core/random.ts';
import { type NodesScene, type NodesSceneOptions, openNodesScene } from './testing/scene.ts';

const SPEC = { existingInstanceGroupNames: ['grp'], minGPUUtilizationPercent: 80, scaleDownDelay: 60 };
const IS_LONG = inject('sliceStride') === 1;

async function withNodes(nodes: number, used: number, options: NodesSceneOptions = {}) {
  const scene = await openNodesScene(options);
  scene.fill(scene.cloud.addGroup('grp', 'zone-a'), nodes);
  for (let at = 0; at < used; at++) await scene.addPod(`p${at}`, 8, { on: scene.nodeNames()[at] ?? '' });
  return scene;
}

/** What the server asks of the cluster, and what happens right before each call is sent. */
function overheard(before: (call: string) => void): Pick<NodesSceneOptions, 'contextOf'> {
  return {
    contextOf(kube) {
      const context = kube.contextFor();
      const fetch: typeof globalThis.fetch = (input, init) => {
        const path = String(input).replace(/^https?:\/\/[^/]+/, '');
        if (!path.includes('watch=')) before(`${init?.method ?? 'GET'} ${path}`);
        return context.fetch(input, init);
      };
      return { ...context, fetch, fetchWith: () => fetch };
    },
  };
}

interface Taint {
  readonly key: string;
  readonly timeAdded?: string;
}

const taintsOf = (spec: unknown): readonly Taint[] => (spec as { readonly taints?: readonly Taint[] }).taints ?? [];

const AT = '2026-01-01T00:00:00Z';

describe('taints of others', () => {
  it('survive 1,000 writes of theirs, right before and after ours', async () => {
    const random = seededRandom(3);
    const foreign = new Map<string, string[]>();
    let writes = 0;
    const scene: NodesScene = await withNodes(4, 1, {
      ...overheard((call) => {
        const name = /^PATCH \/api\/v1\/nodes\/([^?]+)/.exec(call)?.[1];
        // Half of ours then lose the race, and are tried again.
        if (name !== undefined && random.next() < 0.5) write(name);
      }),
    });

    function write(name: string): void {
      const { store } = scene.fake.world;
      const node = store.get('/nodes', undefined, name);
      if (!node) return;
      const keys = foreign.get(name) ?? [];
      foreign.set(name, keys);
      const key = random.next() < 0.5 ? keys.shift() : undefined;
      const rest = taintsOf(node.spec).filter((one) => one.key !== key);
      const added = { key: `example.com/t${writes++}`, value: 'x', effect: 'PreferNoSchedule', timeAdded: AT };
      keys.push(added.key);
      store.replace('/nodes', { ...node, spec: { ...node.spec, taints: [...rest, added] } });
    }

    await scene.define('h100', { ...SPEC, scaleDownDelay: 3_600 });
    // The target goes up and down: the same nodes are tainted and untainted again.
    for (let round = 0; writes < 1_000 && round < 1_000; round++) {
      await scene.define('h100', { ...SPEC, scaleDownDelay: 3_600, minNodes: round % 2 === 0 ? 4 : 0 });
      for (const name of scene.nodeNames()) for (let at = 0; at < 12; at++) write(name);
      await scene.clock.advance(2 * SECOND_MS);
    }

    expect(writes).toBeGreaterThanOrEqual(1_000);
    for (const { metadata, spec } of scene.fake.objects('nodes')) {
      const keys = taintsOf(spec).filter(({ timeAdded }) => timeAdded === AT);
      expect(keys.map(({ key }) => key).toSorted()).toEqual(foreign.get(metadata.name)?.toSorted());
    }
    await scene.stop();
  });
});

describe('a pod that is bound while its node is being deleted', () => {
  /** Binds one right before that call of the deletion; answers the calls, and whether pod and node are there at the end. */
  async function boundBefore(nth: number) {
    const calls: string[] = [];
    let node = '';
    const scene: NodesScene = await withNodes(2, 1, {
      ...overheard((call) => {
        if (node === '') return;
        calls.push(call);
        if (calls.length === nth) bind();
      }),
    });
    const like = scene.fake.object('pods', 'default', 'p0');

    function bind(): void {
      if (!like) return;
      const metadata = { ...like.metadata, name: 'late', uid: 'uid-late' };
      scene.fake.world.store.add('/pods', { ...like, metadata, spec: { ...like.spec, nodeName: node } });
    }

    await scene.define('h100', { ...SPEC, scaleDownDelay: 3 });
    while (scene.tainted().length === 0) await scene.clock.advance(200);
    node = scene.tainted()[0] ?? '';
    await scene.clock.advance(20 * SECOND_MS);
    const made = [...calls];
    const pod = scene.fake.object('pods', 'default', 'late');
    const outcome = { isBound: nth <= calls.length, isKept: pod !== undefined && scene.nodeNames().includes(node) };
    await scene.stop();
    return { made, ...outcome };
  }

  it('keeps it, whichever call of the deletion comes next, up to the last look at its pods', async () => {
    const { made } = await boundBefore(Number.POSITIVE_INFINITY);
    const isLastLook = (call: string): boolean => call.includes('fieldSelector=spec.nodeName');
    const last = made.findIndex(isLastLook) + 1;
    expect(made.slice(0, last).some((call) => call.startsWith('PATCH /api/v1/nodes/'))).toBe(true);
    expect(last).toBeGreaterThan(2);

    const lost: string[] = [];
    for (let nth = 1; nth <= last; nth++) {
      const { isBound, isKept } = await boundBefore(nth);
      if (!isBound || !isKept) lost.push(`before call ${nth}, ${made[nth - 1]}: bound ${isBound}, kept ${isKept}`);
    }

    expect(lost).toEqual([]);
  });
});

describe('two Musters in one cluster', () => {
  it('of both, one acts: each object has one that serves it, and grows once', async () => {
    const names = Array.from({ length: IS_LONG ? 20 : 6 }, (_, at) => `pool-${at}`);
    const scene = await openNodesScene();
    const other = await scene.startOther('cluster2');
    for (const name of names) scene.cloud.addGroup(name, 'zone-a');
    await Promise.all(
      names.map((name) => scene.define(name, { existingInstanceGroupNames: [name], minUnutilizedGPUNodes: 1 })),
    );
    await scene.clock.advance(3 * MINUTE_MS);

    expect(scene.calls.toSorted()).toEqual(names.map((name) => `grow ${name} by 1 to 1`).toSorted());
    expect(scene.nodeNames()).toHaveLength(names.length);
    const conditions = other.nodes.list().map(({ reason }) => reason);
    const own = scene.nodes.list().map(({ reason }) => reason);
    for (const [at] of names.entries()) expect([own[at], conditions[at]]).toContain('ServedByAnother');
    await scene.stop();
  });

  it('the other goes on where the first has left the cluster', async () => {
    const scene = await openNodesScene();
    const group = scene.cloud.addGroup('grp', 'zone-a');
    await scene.define('h100', SPEC);
    await scene.clock.advance(5 * SECOND_MS);
    await scene.startOther('cluster2');
    await scene.addPod('p', 8);
    await scene.clock.advance(MINUTE_MS);
    expect(group.machines.size).toBe(1);
    const at = '/apis/compute.baseten.co/v1alpha1/nodeprovisioners/h100';
    const annotations = { 'nodeprovisioner.compute.baseten.co/served-by': 'cluster2' };
    await scene.kubectl('PATCH', at, { metadata: { annotations } });
    await scene.addPod('q', 8);
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(2);
    expect(scene.nodes.list()).toMatchObject([{ reason: 'ServedByAnother' }]);
    await scene.stop();
  });
});
