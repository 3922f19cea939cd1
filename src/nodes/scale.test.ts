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
  it('A: of 12 nodes with 8 in use two empty ones are tainted, and deleted after the delay', async () => {
    const scene = await withLoad(12, 8);

    expect(scene.tainted()).toHaveLength(2);
    await scene.clock.advance(9 * MINUTE_MS);
    expect(scene.calls).toEqual([]);
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.calls).toEqual(['remove 2 of grp']);
    expect(scene.nodeNames()).toHaveLength(10);
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
