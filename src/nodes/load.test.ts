// A load over hours: one that stays as it is, one that goes up and down a little, one that does what it wants.
import { expect, inject, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type Random, seededRandom } from '#core/random.ts';
import { type NodesScene, openNodesScene } from './testing/scene.ts';

// A part of it here, the whole in `npm run test:long`.
const IS_LONG = inject('sliceStride') === 1;
const HOURS = IS_LONG ? 24 : 0.5;

/** Nodes that are used as a whole by one pod each, or not at all. */
async function withNodes(nodes: number, used: number, spec: object) {
  const scene = await openNodesScene({ bootMs: 1_000, registerMs: 1_000 });
  scene.fill(scene.cloud.addGroup('grp', 'zone-a'), nodes);
  const names = scene.nodeNames();
  for (let at = 0; at < used; at++) await scene.addPod(`p${at}`, 8, { on: names[at] ?? '' });
  await scene.define('h100', { existingInstanceGroupNames: ['grp'], scaleDownDelay: 60, ...spec });
  return scene;
}

/** A load that no action is for, with everything on that may act. */
const EVERYTHING = {
  minGPUUtilizationPercent: 50,
  maxGPUUtilizationPercent: 90,
  minUnutilizedGPUNodes: 1,
  defragmentation: { mode: 'act' },
};

it(`under a constant load there is one step, and then nothing in ${HOURS} h`, async () => {
  const scene = await withNodes(6, 2, EVERYTHING);
  await scene.clock.advance(5 * MINUTE_MS);
  const taintsBefore = scene.tainted();
  const [calls, decisions] = [[...scene.calls], await scene.decisions('h100')];
  expect([calls, scene.nodeNames().length, taintsBefore]).toEqual([['remove 2 of grp'], 4, []]);
  const writes: string[] = [];
  scene.fake.world.store.watch(({ storage, type }) => void (storage === '/nodes' && writes.push(type)));

  await scene.clock.advance(HOURS * HOUR_MS);

  expect(scene.calls).toEqual(calls);
  expect(await scene.decisions('h100')).toEqual(decisions);
  expect(writes).toEqual([]);
  await scene.stop();
});

it('under a load that goes up and down inside the band nothing is done', async () => {
  // Of ten nodes seven or eight are used: 70 and 80 percent.
  const scene = await withNodes(10, 7, { minGPUUtilizationPercent: 70, maxGPUUtilizationPercent: 85 });
  await scene.clock.advance(MINUTE_MS);
  const random = seededRandom(11);
  for (let step = 0; step < (IS_LONG ? 1_000 : 50); step++) {
    if (scene.places().more === undefined) await scene.addPod('more', 8);
    else await scene.removePod('more');
    await scene.clock.advance(Math.floor(random.next() * 40 * SECOND_MS));
  }

  expect([scene.calls, scene.tainted()]).toEqual([[], []]);
  expect(scene.nodeNames()).toHaveLength(10);
  await scene.stop();
});

/** Adds or removes some pods. */
async function change(scene: NodesScene, random: Random, serial: number): Promise<void> {
  const names = Object.keys(scene.places());
  for (let many = Math.floor(random.next() * 5); many > 0; many--) {
    const gone = names[Math.floor(random.next() * names.length)];
    if (random.next() < 0.5)
      await scene.addPod(`pod-${serial}-${many}`, [1, 2, 4, 8][Math.floor(random.next() * 4)] ?? 1);
    else if (gone !== undefined && scene.places()[gone] !== undefined) await scene.removePod(gone);
  }
}

it.for(IS_LONG ? [1, 2, 3, 4, 5, 6, 7, 8] : [1])(
  'whatever the load does, no node goes with a pod, and never so many that fewer idle ones stay than are kept, seed %d',
  async (seed) => {
    const random = seededRandom(seed);
    const buffer = seed % 3;
    const scene = await withNodes(3, 0, {
      minGPUUtilizationPercent: 80,
      minUnutilizedGPUNodes: buffer,
      scaleDownDelay: 20,
    });
    const removed = new Set<string>();
    const wrong: string[] = [];
    let asked = scene.calls.length;
    for (let step = 0; step < (IS_LONG ? 600 : 80); step++) {
      const before = new Set(Object.values(scene.places()));
      const nodes = scene.nodeNames();
      await scene.clock.advance(5 * SECOND_MS);
      const after = new Set(scene.nodeNames());
      const gone = nodes.filter((name) => !after.has(name));
      for (const name of gone) if (before.has(name)) wrong.push(`${name} went with its pods in step ${step}`);
      const busy = new Set(Object.values(scene.places()).filter((name) => name !== '')).size;
      const isRemoved = scene.calls.slice(asked).some((call) => call.startsWith('remove'));
      if (isRemoved && after.size < busy + buffer) wrong.push(`${after.size} nodes, ${busy} busy in step ${step}`);
      asked = scene.calls.length;
      for (const name of gone) removed.add(name);
      if (random.next() < 0.4) await change(scene, random, step);
    }
    await scene.clock.advance(5 * MINUTE_MS);

    expect(wrong).toEqual([]);
    expect(removed.size).toBeGreaterThan(2);
    const places = Object.values(scene.places());
    expect(places).not.toContain('');
    expect(scene.nodeNames().length).toBeGreaterThanOrEqual(new Set(places).size + buffer);
    await scene.stop();
  },
);
