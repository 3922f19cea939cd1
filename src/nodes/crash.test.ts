// The process may die at every commit and at every call, and every answer may be lost: what becomes of the cluster is the same.
import { expect, inject, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { openFate, type Point, pointsOf } from '#store/testing/mortal.ts';
import { type NodesScene, openNodesScene } from './testing/scene.ts';

const STEP_MS = 2 * SECOND_MS;

/** What is left at the end, and what it took. */
interface End {
  readonly nodes: number;
  readonly machines: number;
  readonly tainted: number;
  /** Pods by name that are on a node, and how many pods there have been. */
  readonly placed: readonly string[];
  readonly pods: number;
}

type Happening = readonly [atMs: number, what: (scene: NodesScene) => Promise<void>];

interface Life {
  readonly spec: object;
  /** What is there before the object. */
  begin(scene: NodesScene): Promise<void>;
  readonly happenings: readonly Happening[];
  readonly lastsMs: number;
  readonly end: End;
  /** Of the points each that many are tried in `npm test`, all of them in `npm run test:long`. */
  readonly stride: number;
}

const GROUP = { existingInstanceGroupNames: ['grp'] };

const LIVES: Readonly<Record<string, Life>> = {
  'a growth, an untaint and a deletion': {
    spec: { ...GROUP, minGPUUtilizationPercent: 80, scaleDownDelay: 60 },
    async begin(scene) {
      scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 2);
      await scene.addPod('stays', 8, { on: scene.nodeNames()[0] ?? '' });
    },
    happenings: [
      [20 * SECOND_MS, async (scene) => void (await Promise.all(['a', 'b'].map((name) => scene.addPod(name, 8))))],
      [2 * MINUTE_MS, async (scene) => void (await Promise.all(['a', 'b'].map((name) => scene.removePod(name))))],
    ],
    lastsMs: 6 * MINUTE_MS,
    end: { nodes: 1, machines: 3, tainted: 0, placed: ['stays'], pods: 3 },
    stride: 41,
  },
  'a node that ends and is replaced': {
    spec: { ...GROUP, rotation: { leadSeconds: 120 } },
    async begin(scene) {
      scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 1, 5 * MINUTE_MS);
      await scene.deploy('web', 1, 8);
      await scene.clock.advance(2 * SECOND_MS);
    },
    happenings: [],
    lastsMs: 6 * MINUTE_MS,
    end: { nodes: 1, machines: 2, tainted: 0, placed: ['web'], pods: 2 },
    stride: 41,
  },
  'a node that is emptied to save it': {
    spec: { ...GROUP, minUnutilizedGPUNodes: 0, defragmentation: { mode: 'act' } },
    async begin(scene) {
      scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 2);
      await scene.deploy('web', 2, 1);
      await scene.clock.advance(2 * SECOND_MS);
    },
    happenings: [],
    lastsMs: 3 * MINUTE_MS,
    end: { nodes: 1, machines: 2, tainted: 0, placed: ['web', 'web'], pods: 3 },
    stride: 41,
  },
  'room for a large pod that is made by moving small ones': {
    spec: { instanceGroups: [{ name: 'grp', maxSize: 2 }], defragmentation: { mode: 'act' } },
    async begin(scene) {
      scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 2);
      await scene.deploy('web', 4, 1);
      await scene.clock.advance(2 * SECOND_MS);
    },
    happenings: [[0, (scene) => scene.addPod('large', 8)]],
    lastsMs: 3 * MINUTE_MS,
    end: { nodes: 2, machines: 2, tainted: 0, placed: ['large', 'web', 'web', 'web', 'web'], pods: 7 },
    stride: 41,
  },
};

async function live({ spec, begin, happenings, lastsMs }: Life, point?: Point) {
  const fate = openFate(point);
  const scene = await openNodesScene({ fate });
  await begin(scene);
  await scene.define('h100', spec);
  const [machines, pods] = [new Set<string>(), new Set<string>()];
  let next = 0;
  for (let atMs = 0; atMs < lastsMs; atMs += STEP_MS) {
    for (; (happenings[next]?.[0] ?? lastsMs) <= atMs; next++) await happenings[next]?.[1](scene);
    await scene.clock.advance(STEP_MS);
    await scene.replaceDead();
    for (const group of scene.cloud.groups.values()) for (const id of group.machines.keys()) machines.add(id);
    for (const { metadata } of scene.fake.objects('pods')) pods.add(metadata.uid ?? '');
  }
  const end: End = {
    nodes: scene.nodeNames().length,
    machines: machines.size,
    tainted: scene.fake.objects('nodes').flatMap((node) => node.spec?.taints ?? []).length,
    placed: Object.entries(scene.places())
      .flatMap(([pod, node]) => (node === '' ? [] : [pod.split('-')[0] ?? '']))
      .toSorted(),
    pods: pods.size,
  };
  await scene.stop();
  return { end, fate };
}

const IS_LONG = inject('sliceStride') === 1;

it.for(Object.keys(LIVES))('%s comes to the same end wherever the process dies or an answer is lost', async (name) => {
  const life = LIVES[name] as Life;
  const { end, fate } = await live(life);
  expect(end).toEqual(life.end);
  const points = [...pointsOf(fate)].filter((_, at) => IS_LONG || at % life.stride === 0);
  const wrong: string[] = [];

  for (const point of points) {
    const lived = await live(life, point);
    const call = point.at === 'call' ? fate.calls[point.nth - 1]?.name : '';
    if (lived.fate.deaths !== (point.failureRule === 'lost' ? 0 : 1)) wrong.push(`${JSON.stringify(point)} is not met`);
    if (JSON.stringify(lived.end) !== JSON.stringify(end))
      wrong.push(`${JSON.stringify(point)} ${call}: ${JSON.stringify(lived.end)}`);
  }

  expect(points.length).toBeGreaterThan(1);
  expect(wrong).toEqual([]);
});
