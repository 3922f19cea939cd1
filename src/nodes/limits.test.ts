// Who may ask for how much: the account of the server's file, the object, each of its groups.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { openNodesScene } from './testing/scene.ts';

/** One account for each name, which holds the groups whose names begin with its own. */
const accountsOf = (mostOf: Readonly<Record<string, number>>) => ({
  accounts: Object.entries(mostOf).map(([name, maxNodes]) => ({
    name,
    kind: 'memory',
    config: {},
    groups: [`${name}-*`],
    maxNodes,
  })),
});

/** A pod that may run on nodes of that object alone. */
const onlyOn = (pool: string) => ({
  spec: { nodeSelector: { 'nodeprovisioner.compute.baseten.co/provisioner-name': pool } },
});

describe('the most nodes of an account', () => {
  it('are counted in that account alone', async () => {
    const scene = await openNodesScene({ settings: accountsOf({ one: 2, two: 2 }) });
    for (const name of ['one-a', 'two-a']) scene.cloud.addGroup(name, 'zone-a');
    await scene.define('first', { existingInstanceGroupNames: ['one-a'] });
    await scene.define('second', { existingInstanceGroupNames: ['two-a'] });
    for (const at of [1, 2]) await scene.addPod(`a${at}`, 8, onlyOn('first'));
    await scene.clock.advance(2 * MINUTE_MS);
    for (const at of [1, 2]) await scene.addPod(`b${at}`, 8, onlyOn('second'));

    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(4);
    await scene.stop();
  });

  it('are of all objects together, those that ask at the same time too', async () => {
    const scene = await openNodesScene({ settings: accountsOf({ one: 3 }) });
    for (const name of ['one-a', 'one-b']) scene.cloud.addGroup(name, 'zone-a');
    await scene.define('first', { existingInstanceGroupNames: ['one-a'] });
    await scene.define('second', { existingInstanceGroupNames: ['one-b'] });
    await scene.clock.advance(5 * SECOND_MS);
    for (const at of [1, 2]) await scene.addPod(`a${at}`, 8, onlyOn('first'));
    for (const at of [1, 2]) await scene.addPod(`b${at}`, 8, onlyOn('second'));

    await scene.clock.advance(10 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(3);
    expect(scene.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
    await scene.stop();
  });
});

describe('an account that has its most nodes', () => {
  it('leaves the rest to groups of other accounts', async () => {
    const scene = await openNodesScene({ settings: accountsOf({ one: 2, two: 9 }) });
    for (const name of ['one-a', 'two-a']) scene.cloud.addGroup(name, 'zone-a');
    await scene.define('h100', { existingInstanceGroupNames: ['one-a', 'two-a'] });
    for (let at = 0; at < 5; at++) await scene.addPod(`p${at}`, 8);

    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.cloud.groups.get('memory:zone-a:one-a')?.machines.size).toBe(2);
    expect(scene.cloud.groups.get('memory:zone-a:two-a')?.machines.size).toBe(3);
    await scene.stop();
  });
});

describe('the most nodes of an object', () => {
  it('are never exceeded, however many pods wait', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await scene.define('h100', { existingInstanceGroupNames: ['grp'], maxNodes: 2 });
    for (let at = 0; at < 5; at++) await scene.addPod(`p${at}`, 8);

    await scene.clock.advance(10 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(2);
    expect(scene.status('h100')).toMatchObject({ targetSize: 2, pendingPods: 3 });
    await scene.stop();
  });
});

describe('the sizes of a group', () => {
  it('a full one grows no further, and the rest comes from the next', async () => {
    const scene = await openNodesScene();
    for (const name of ['small', 'large']) scene.cloud.addGroup(name, 'zone-a');
    await scene.define('h100', { instanceGroups: [{ name: 'small', maxSize: 1 }, { name: 'large' }] });
    for (let at = 0; at < 3; at++) await scene.addPod(`p${at}`, 8);

    await scene.clock.advance(5 * MINUTE_MS);

    expect(scene.cloud.groups.get('memory:zone-a:small')?.machines.size).toBe(1);
    expect(scene.cloud.groups.get('memory:zone-a:large')?.machines.size).toBe(2);
    await scene.stop();
  });

  it('no node is taken from one that is at its least size', async () => {
    const scene = await openNodesScene();
    const group = scene.cloud.addGroup('grp', 'zone-a');
    scene.fill(group, 5);
    await scene.define('h100', {
      instanceGroups: [{ name: 'grp', minSize: 3 }],
      minGPUUtilizationPercent: 80,
      scaleDownDelay: 60,
    });

    await scene.clock.advance(20 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(3);
    expect(scene.tainted()).toEqual([]);
    await scene.stop();
  });
});
