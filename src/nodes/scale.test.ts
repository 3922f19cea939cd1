import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { openNodesScene } from './testing/scene.ts';

/** The examples of the specification: so many nodes, each used as a whole by one pod or not at all. */
async function withLoad(nodes: number, used: number, more: object = {}) {
  const scene = await openNodesScene();
  const group = scene.cloud.addGroup('grp', 'zone-a');
  scene.fill(group, nodes);
  const names = scene.nodeNames();
  for (let at = 0; at < used; at++) await scene.addPod(`p${at}`, 8, { on: names[at] ?? '' });
  await scene.define('h100', { existingInstanceGroupNames: ['grp'], minGPUUtilizationPercent: 80, ...more });
  await scene.clock.advance(5 * SECOND_MS);
  return { ...scene, group, use: (at: number) => scene.addPod(`p${at}`, 8, { on: names[at] ?? '' }) };
}

describe('too few GPUs are asked for', () => {
  it('A: of 120 nodes with 80 in use 20 empty ones are tainted, and deleted after the delay', async () => {
    const scene = await withLoad(120, 80);

    expect(scene.tainted()).toHaveLength(20);
    await scene.clock.advance(9 * MINUTE_MS);
    expect(scene.calls).toEqual([]);
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.calls).toEqual(['remove 20 of grp']);
    expect(scene.nodeNames()).toHaveLength(100);
    await scene.stop();
  });

  it('B: with less load at the end of the delay the tainted ones go first, the others one delay later', async () => {
    const scene = await withLoad(12, 8);
    await scene.clock.advance(9 * MINUTE_MS);
    await scene.removePod('p6');
    await scene.removePod('p7');
    await scene.clock.advance(3 * MINUTE_MS);

    expect(scene.calls[0]).toBe('remove 2 of grp');
    await scene.clock.advance(12 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(7);
    await scene.stop();
  });

  it('C: with more load before the end of the delay the surplus is untainted, the rest goes', async () => {
    const scene = await withLoad(24, 16);
    expect(scene.tainted()).toHaveLength(4);
    const free = scene.nodeNames().filter((name) => !scene.tainted().includes(name));
    for (const [at, node] of free.slice(16, 18).entries()) await scene.addPod(`more${at}`, 8, { on: node });
    await scene.clock.advance(5 * SECOND_MS);

    expect(scene.tainted()).toHaveLength(2);
    await scene.clock.advance(11 * MINUTE_MS);

    expect(scene.calls).toEqual(['remove 2 of grp']);
    await scene.stop();
  });
});

describe('the size that the controller comes to', () => {
  it.each([
    ['two idle nodes where nothing is used', 3, 0, { minGPUUtilizationPercent: 80, minUnutilizedGPUNodes: 2 }, 2],
    ['the busy nodes and two idle ones, by those alone', 4, 3, { minUnutilizedGPUNodes: 2 }, 5],
    ['the busy nodes and one idle one, by those alone', 6, 3, { minUnutilizedGPUNodes: 1 }, 4],
    ['room below the ceiling before any pod waits', 10, 10, { maxGPUUtilizationPercent: 90 }, 12],
    [
      'the ceiling where no size satisfies both',
      1,
      1,
      { minGPUUtilizationPercent: 80, maxGPUUtilizationPercent: 90 },
      2,
    ],
    ['what is there inside the band', 5, 4, { minGPUUtilizationPercent: 80, maxGPUUtilizationPercent: 90 }, 5],
    ['its least number of nodes', 2, 1, { minGPUUtilizationPercent: 80, minNodes: 3 }, 3],
    ['its largest number of nodes', 2, 2, { minUnutilizedGPUNodes: 4, maxNodes: 4 }, 4],
  ])('is %s: %d nodes, %d in use, %j', async (_what, nodes, used, spec, size) => {
    const scene = await withLoad(nodes, used, { minGPUUtilizationPercent: undefined, scaleDownDelay: 30, ...spec });
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(size);
    expect(scene.status('h100')).toMatchObject({ currentSize: size, targetSize: size });
    await scene.stop();
  });

  it('is what there is where each node has one GPU in use, though one would be enough', async () => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 10);
    for (const [at, node] of scene.nodeNames().entries()) await scene.addPod(`p${at}`, 1, { on: node });
    await scene.define('h100', {
      existingInstanceGroupNames: ['grp'],
      minGPUUtilizationPercent: 80,
      scaleDownDelay: 30,
    });
    await scene.clock.advance(2 * MINUTE_MS);

    expect([scene.nodeNames().length, scene.tainted()]).toEqual([10, []]);
    await scene.stop();
  });

  it('is one node more where 73 of 80 GPUs are above 90 percent', async () => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 10);
    for (const [at, node] of scene.nodeNames().entries()) await scene.addPod(`p${at}`, at === 0 ? 1 : 8, { on: node });
    await scene.define('h100', { existingInstanceGroupNames: ['grp'], maxGPUUtilizationPercent: 90 });
    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls).toEqual(['grow grp by 1 to 11']);
    await scene.stop();
  });
});

describe('pods that wait', () => {
  it('get the nodes that they need, once, and run there', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await scene.define('h100', { existingInstanceGroupNames: ['grp'], minGPUUtilizationPercent: 80 });
    for (let at = 0; at < 10; at++) await scene.addPod(`p${at}`, 4);
    await scene.clock.advance(2 * SECOND_MS);
    expect(scene.calls.at(-1)).toMatch(/^grow grp by \d to 5$/);

    await scene.clock.advance(10 * MINUTE_MS);

    expect(scene.calls.at(-1)).toMatch(/^grow grp by \d to 5$/);
    expect(scene.fake.objects('pods').every(({ spec }) => spec?.nodeName)).toBe(true);
    expect(scene.status('h100')).toMatchObject({ currentSize: 5, targetSize: 5, gpus: 40, gpusRequested: 40 });
    await scene.stop();
  });
});
