// What holds the controller back, what it gives up, and who serves which pods.
import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import { openNodesScene } from './testing/scene.ts';

const ONE_GROUP = { existingInstanceGroupNames: ['grp'], minGPUUtilizationPercent: 80, scaleDownDelay: 60 };

describe('a freeze', () => {
  it('stops growing, tainting and deleting, and what was due is done after it', async () => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 3);
    await scene.define('h100', ONE_GROUP);
    await scene.clock.advance(5 * SECOND_MS);
    expect(scene.tainted()).toHaveLength(3);
    await scene.freeze();
    await scene.addPod('p', 8, { spec: { nodeSelector: { zone: 'none' } } });

    await scene.clock.advance(3 * MINUTE_MS);
    expect([scene.calls, scene.tainted().length]).toEqual([[], 3]);
    expect(scene.nodes.plan('h100')).toMatchObject({ did: 'nothing', reason: 'frozen' });
    await scene.thaw();
    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls).toEqual(['remove 3 of grp']);
    await scene.stop();
  });

  it('shows in the plan what follows a thaw', async () => {
    const scene = await openNodesScene();
    await scene.freeze();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 3);
    await scene.define('h100', ONE_GROUP);
    await scene.clock.advance(5 * SECOND_MS);

    expect(scene.nodes.plan('h100')).toMatchObject({
      did: 'nothing',
      target: 0,
      unless: expect.stringMatching(
        /^after muster thaw: taint 3 empty nodes: .*, deleted at .* UTC unless more than 0 GPUs/,
      ),
    });
    expect(scene.tainted()).toEqual([]);
    await scene.stop();
  });

  it('lets nothing grow for a pod that waits', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await scene.define('h100', ONE_GROUP);
    await scene.freeze();
    await scene.addPod('p', 8);

    await scene.clock.advance(5 * MINUTE_MS);
    expect(scene.calls).toEqual([]);
    await scene.thaw();
    await scene.clock.advance(5 * SECOND_MS);

    expect(scene.calls).toEqual(['grow grp by 1 to 1']);
    await scene.stop();
  });
});

describe('capacity that does not come', () => {
  it('requests that wait are cancelled when the target falls', async () => {
    const scene = await openNodesScene();
    const group = scene.cloud.addGroup('grp', 'zone-a');
    scene.cloud.isQueueHeld = true;
    await scene.define('h100', { instanceGroups: [{ name: 'grp', flexStart: {} }], minGPUUtilizationPercent: 80 });
    for (const name of ['a', 'b']) await scene.addPod(name, 8);
    await scene.clock.advance(MINUTE_MS);
    expect(group.requests.size).toBe(2);
    await scene.removePod('a');
    await scene.clock.advance(MINUTE_MS);
    await scene.removePod('b');
    await scene.clock.advance(MINUTE_MS);

    expect(group.requests.size).toBe(0);
    expect(scene.calls.filter((call) => call.startsWith('grow'))).toHaveLength(1);
    await scene.stop();
  });

  it('a machine of ours that never registers is deleted after the timeout, one of others is left', async () => {
    const scene = await openNodesScene({ registerMs: 24 * HOUR_MS });
    const group = scene.cloud.addGroup('grp', 'zone-a');
    scene.cloud.startMachine(group, 'stranger');
    await scene.define('h100', { existingInstanceGroupNames: ['grp'] });
    for (const name of ['a', 'b']) await scene.addPod(name, 8);
    await scene.clock.advance(14 * MINUTE_MS);
    expect(scene.calls).toEqual(['grow grp by 1 to 2']);

    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.calls).toEqual(['grow grp by 1 to 2', 'remove 1 of grp']);
    expect([...group.machines.values()].map(({ name }) => name)).toEqual(['stranger']);
    expect(scene.status('h100').unknownMachines).toEqual(['stranger']);
    expect(await scene.events('h100')).toEqual([expect.stringContaining('The machine stranger is no node')]);
    await scene.stop();
  });
});

describe('many nodes that turned NotReady', () => {
  /** Six nodes, of which three are not ready: nothing is taken away. */
  async function held() {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 6);
    await scene.clock.advance(2 * MINUTE_MS);
    const names = scene.nodeNames();
    for (const name of names.slice(0, 3)) scene.fake.disruptions.killNode(name);
    await scene.clock.advance(MINUTE_MS);
    await scene.define('h100', ONE_GROUP);
    await scene.clock.advance(MINUTE_MS);
    expect(scene.tainted()).toEqual([]);
    return { ...scene, names, isHeld: () => scene.nodes.plan('h100')?.reason === 'many-not-ready' };
  }

  it('let the others be taken away after an operator thaws them, and hold them back again when more turn so', async () => {
    const scene = await held();
    await scene.nodes.thaw('h100', SELF);
    await scene.clock.advance(5 * SECOND_MS);
    expect(scene.tainted()).toHaveLength(3);
    await expect(scene.nodes.thaw('h100', SELF)).rejects.toMatchObject({ kind: 'conflict' });
    for (const name of scene.names.slice(3)) scene.fake.disruptions.killNode(name);
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.isHeld()).toBe(true);
    await scene.stop();
  });

  it('let the others be taken away as soon as they return', async () => {
    const scene = await held();
    for (const name of scene.names.slice(0, 3)) scene.fake.disruptions.reviveNode(name);

    await scene.clock.advance(MINUTE_MS);

    expect([scene.isHeld(), scene.tainted().length]).toEqual([false, 6]);
    await scene.stop();
  });

  it('that were thawed count anew once they were ready', async () => {
    const scene = await held();
    await scene.nodes.thaw('h100', SELF);
    await scene.clock.advance(5 * SECOND_MS);
    const before = scene.store.view.nodePools.get('h100')?.letGo;
    for (const name of scene.names.slice(0, 3)) scene.fake.disruptions.reviveNode(name);
    await scene.clock.advance(30 * SECOND_MS);

    expect(before).toHaveLength(3);
    expect(scene.store.view.nodePools.get('h100')?.letGo).toEqual([]);
    await scene.stop();
  });
});

describe('two objects that could serve a pod', () => {
  it('grow once for it', async () => {
    const scene = await openNodesScene();
    for (const name of ['a', 'b']) scene.cloud.addGroup(name, 'zone-a');
    await scene.define('first', { existingInstanceGroupNames: ['a'] });
    await scene.define('second', { existingInstanceGroupNames: ['b'] });
    await scene.clock.advance(5 * SECOND_MS);
    for (let at = 0; at < 3; at++) await scene.addPod(`p${at}`, 8);

    await scene.clock.advance(5 * MINUTE_MS);

    expect(scene.nodeNames()).toHaveLength(3);
    expect(scene.calls.filter((call) => call.includes(' b '))).toEqual([]);
    await scene.stop();
  });

  it.each([
    ['its nodes', { existingInstanceGroupNames: ['a'], maxNodes: 1 }],
    ['its groups', { instanceGroups: [{ name: 'a', maxSize: 1 }] }],
  ])('share what the first one cannot serve by the limit of %s', async (_, first) => {
    const scene = await openNodesScene();
    for (const name of ['a', 'b']) scene.cloud.addGroup(name, 'zone-a');
    await scene.define('first', first);
    await scene.define('second', { existingInstanceGroupNames: ['b'] });
    await scene.clock.advance(5 * SECOND_MS);
    for (let at = 0; at < 3; at++) await scene.addPod(`p${at}`, 8);

    await scene.clock.advance(5 * MINUTE_MS);

    expect(scene.fake.objects('pods').filter(({ spec }) => spec?.nodeName)).toHaveLength(3);
    expect(scene.nodeNames()).toHaveLength(3);
    await scene.stop();
  });
});

describe('a view of the cluster that is older than ten seconds', () => {
  it('lets nothing be tainted until it follows the cluster again', async () => {
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 3);
    await scene.define('h100', { existingInstanceGroupNames: ['grp'], minNodes: 3 });
    await scene.clock.advance(MINUTE_MS);
    const mend = scene.fake.failureRules.add({
      what: { kind: 'throttle' },
      times: 1_000,
      when: ({ path }) => path.endsWith('/pods'),
    });
    scene.fake.watches.reset('pods');
    await scene.clock.advance(11 * SECOND_MS);
    await scene.define('h100', { ...ONE_GROUP, minNodes: 0 });

    await scene.clock.advance(2 * MINUTE_MS);
    expect(scene.tainted()).toEqual([]);
    mend();
    await scene.clock.advance(45 * SECOND_MS);

    expect(scene.tainted()).toHaveLength(3);
    await scene.stop();
  });
});
