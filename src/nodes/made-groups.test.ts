// Groups that Muster makes and drops itself.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type NodesScene, openNodesScene } from './testing/scene.ts';

const MADE = { name: 'grp', template: 'h100', create: true };
const DROPPED = { ...MADE, dropWhenEmpty: true };
const OBJECT = '/apis/compute.baseten.co/v1alpha1/nodeprovisioners/h100';

const define = (scene: NodesScene, group: object = DROPPED) =>
  scene.define('h100', { instanceGroups: [group], minUnutilizedGPUNodes: 0, scaleDownDelay: 60 });

const groupsIn = ({ cloud }: NodesScene) => [...cloud.groups.values()];
const made = (calls: readonly string[]) => calls.filter((call) => /^(create|drop)/.test(call));
const ready = (scene: NodesScene) => (scene.status('h100').conditions as object[])[0];

describe('a group that is missing', () => {
  it('is made at size 0 from the template that the object names, and grows when pods wait', async () => {
    const scene = await openNodesScene();
    await define(scene, MADE);
    await scene.clock.advance(5 * SECOND_MS);
    expect(groupsIn(scene).map(({ name, madeFor, machines }) => [name, madeFor, machines.size])).toEqual([
      ['grp', 'h100', 0],
    ]);
    await scene.addPod('p', 8);

    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls).toEqual(['create grp from h100', 'grow grp by 1 to 1']);
    expect(scene.nodeNames()).toHaveLength(1);
    await scene.stop();
  });

  it('is made once, though the reply is lost', async () => {
    const scene = await openNodesScene();
    scene.mood.isReplyLost = true;
    await define(scene, MADE);

    await scene.clock.advance(2 * MINUTE_MS);

    expect(groupsIn(scene)).toHaveLength(1);
    expect(ready(scene)).toMatchObject({ status: 'True' });
    await scene.stop();
  });

  it.each([
    ['denied', 'RightMissing'],
    ['invalid', 'GroupNotMade'],
    ['unsupported', 'GroupNotMade'],
  ] as const)('whose creation is refused as %s is named with the remedy, as %s', async (kind, reason) => {
    const scene = await openNodesScene();
    scene.mood.refuses = () => new Fault(kind, 'No.', { remedy: 'Do this.' });
    await define(scene, MADE);
    await scene.addPod('p', 8);

    await scene.clock.advance(MINUTE_MS);

    expect(ready(scene)).toMatchObject({ status: 'False', reason, message: expect.stringContaining('No. Do this.') });
    expect(groupsIn(scene)).toEqual([]);
    await scene.stop();
  });

  it('is not made where its name is not permitted, or while everything is frozen', async () => {
    const accounts = [{ kind: 'memory', config: {}, groups: ['other-*'] }];
    const forbidden = await openNodesScene({ settings: { accounts } });
    const frozen = await openNodesScene();
    await frozen.freeze();
    for (const scene of [forbidden, frozen]) {
      await define(scene, MADE);
      await scene.clock.advance(MINUTE_MS);
    }

    expect([ready(forbidden), ready(frozen)]).toMatchObject([{ reason: 'GroupNotPermitted' }, { reason: 'Frozen' }]);
    expect([...forbidden.calls, ...frozen.calls]).toEqual([]);
    for (const scene of [forbidden, frozen]) await scene.stop();
  });

  it('that two accounts may hold is made in none of them until one is named', async () => {
    const accounts = ['a', 'b'].map((name) => ({ name, kind: 'memory', config: {}, groups: ['*'] }));
    const scene = await openNodesScene({ settings: { accounts } });
    await define(scene, MADE);
    await scene.clock.advance(MINUTE_MS);

    expect(ready(scene)).toMatchObject({ reason: 'GroupAmbiguous', message: expect.stringContaining('a and b') });
    expect(scene.calls).toEqual([]);
    await scene.stop();
  });
});

describe('a group that was made', () => {
  it('is dropped after it was empty for the delay, and made again when it must grow', async () => {
    const scene = await openNodesScene();
    await define(scene);
    await scene.clock.advance(2 * MINUTE_MS);
    expect([groupsIn(scene), made(scene.calls)]).toEqual([[], ['create grp from h100', 'drop grp']]);
    await scene.clock.advance(3 * MINUTE_MS);
    expect(made(scene.calls)).toHaveLength(2);
    await scene.addPod('p', 8);

    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls.slice(2)).toEqual(['create grp from h100', 'grow grp by 1 to 1']);
    expect(scene.nodeNames()).toHaveLength(1);
    await scene.stop();
  });

  it('is not dropped while it has a machine, nor without dropWhenEmpty', async () => {
    const full = await openNodesScene();
    const kept = await openNodesScene();
    await define(full);
    await define(kept, MADE);
    for (const scene of [full, kept]) await scene.addPod('p', 8);
    for (const scene of [full, kept]) await scene.clock.advance(MINUTE_MS);
    await kept.removePod('p');
    for (const scene of [full, kept]) await scene.clock.advance(3 * MINUTE_MS);

    expect([full.nodeNames().length, kept.nodeNames().length]).toEqual([1, 0]);
    expect([...full.calls, ...kept.calls].filter((call) => call.startsWith('drop'))).toEqual([]);
    for (const scene of [full, kept]) await scene.stop();
  });

  it('is known after a restart, and is not made again once it was dropped', async () => {
    const scene = await openNodesScene();
    await define(scene);
    await scene.clock.advance(2 * MINUTE_MS);
    await scene.restart();

    await scene.clock.advance(3 * MINUTE_MS);

    expect(made(scene.calls)).toEqual(['create grp from h100', 'drop grp']);
    await scene.stop();
  });

  it('backs off where it cannot be made again, and the next group grows', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('second', 'zone-a');
    await scene.define('h100', {
      instanceGroups: [DROPPED, { name: 'second' }],
      minUnutilizedGPUNodes: 0,
      scaleDownDelay: 60,
    });
    await scene.clock.advance(2 * MINUTE_MS);
    scene.mood.refuses = (call) => (call.startsWith('create') ? new Fault('quota', 'No more groups.') : undefined);
    await scene.addPod('p', 8);

    await scene.clock.advance(MINUTE_MS);

    expect(scene.calls.slice(2)).toEqual(['create grp from h100', 'grow second by 1 to 1']);
    expect(scene.status('h100').groups).toMatchObject([{ name: 'grp', lastError: 'No more groups.' }, {}]);
    await scene.stop();
  });

  it('goes with its object where it is empty, and stays where it is not', async () => {
    const empty = await openNodesScene();
    const full = await openNodesScene();
    for (const scene of [empty, full]) await define(scene, { ...DROPPED, minSize: 1 });
    await full.addPod('p', 8);
    for (const scene of [empty, full]) {
      await scene.clock.advance(2 * MINUTE_MS);
      await scene.kubectl('DELETE', OBJECT);
      await scene.clock.advance(2 * MINUTE_MS);
    }

    expect([groupsIn(empty).length, groupsIn(full).length]).toEqual([0, 1]);
    expect(full.nodeNames()).toHaveLength(1);
    for (const scene of [empty, full]) await scene.stop();
  });
});

describe('a group of others', () => {
  it('is sized where it is named, and never dropped, neither empty nor with its object', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a');
    await define(scene);
    await scene.clock.advance(3 * MINUTE_MS);
    await scene.kubectl('DELETE', OBJECT);
    await scene.clock.advance(2 * MINUTE_MS);

    expect(scene.calls).toEqual([]);
    expect(groupsIn(scene)).toHaveLength(1);
    await scene.stop();
  });

  it('is not dropped though Muster made it, for another object', async () => {
    const scene = await openNodesScene();
    scene.cloud.addGroup('grp', 'zone-a', 'another');
    await define(scene);
    await scene.clock.advance(3 * MINUTE_MS);

    expect(made(scene.calls)).toEqual([]);
    await scene.stop();
  });
});
