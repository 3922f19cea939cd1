// What is true of groups of Compute Engine beyond the laws.
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { GroupRefusal, NodeGroup } from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { createManaged, type FakeGroup, recreate } from '../fake/compute/group.ts';
import { failRequest, grantWaiting } from '../fake/compute/resize-requests.ts';
import { PROJECT } from '../fake/compute/seed-data.ts';
import { addNodeGroup, GPU_TEMPLATE } from '../fake/compute/testing/node-laws.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';
import { GceNodesConfig } from './config.ts';
import { openGceNodes } from './groups.ts';
import { nodeRequestOf } from './instances.ts';

const ZONE = 'zones/us-central1-a';
const CONFIG = GceNodesConfig.parse({
  project: PROJECT,
  groupTemplates: { h100: { region: 'us-central1', instanceTemplate: GPU_TEMPLATE } },
});

function openScene() {
  const scene = openComputeScene();
  const { compute, during, contextFor } = scene;
  const group = addNodeGroup(scene, ZONE, 'grp');
  const groups = openGceNodes(CONFIG, contextFor());
  const find = async (name: string, providerIds: readonly string[] = []) =>
    (await during((await groups).find({ names: [name], providerIds }, going()))).get(name);
  return {
    ...{ scene, compute, during, group, groups, find },
    nodes: async () => (await find('grp')) as NodeGroup,
    async has(count: number, to: FakeGroup = group) {
      createManaged(
        compute,
        to,
        Array.from({ length: count }, (_, at) => ({ name: `${to.name}-n${at}` })),
      );
      await scene.clock.advance(MINUTE_MS);
    },
  };
}

const growth = (runForMs: number, ...names: string[]) => ({ id: 'g1', count: names.length, to: 9, names, runForMs });

describe('the queue of a group', () => {
  it('shows why a request waits, and goes on waiting', async () => {
    const { compute, during, nodes, scene } = openScene();
    compute.stock.set('a3-highgpu-8g us-central1-a', 0);
    const group = await nodes();
    await during(group.grow(growth(HOUR_MS, 'grp-a'), going()));
    const [request] = (await during(group.describe(going()))).requests;
    compute.stock.delete('a3-highgpu-8g us-central1-a');
    grantWaiting(compute);
    await scene.clock.advance(MINUTE_MS);
    const after = await during(group.describe(going()));

    expect(request).toMatchObject({ id: 'grp-a', count: 1, state: 'waiting' });
    expect(request?.trouble).toMatchObject({ kind: 'exhausted', final: false });
    expect(after.requests).toEqual([]);
    expect(after.instances).toMatchObject([{ name: 'grp-a', state: 'running' }]);
  });

  it('shows a request that failed for good, which the size does not count, until it is cancelled', async () => {
    const { compute, during, nodes, group: fake } = openScene();
    compute.isQueueHeld = true;
    const group = await nodes();
    await during(group.grow(growth(HOUR_MS, 'grp-a'), going()));
    for (const request of fake.requests) failRequest(compute, request);
    const failed = await during(group.describe(going()));
    const [outcome] = await during(group.cancel(['grp-a'], going()));

    expect(failed.wanted).toBe(0);
    expect(failed.requests).toMatchObject([
      { state: 'failed', count: 0, names: ['grp-a'], trouble: { kind: 'quota', final: true } },
    ]);
    expect(outcome).toEqual({ name: 'grp-a' });
    expect(fake.requests).toEqual([]);
  });

  it('refuses to cancel what was granted meanwhile, whose machine stays', async () => {
    const { compute, during, nodes, scene, group: fake } = openScene();
    compute.isQueueHeld = true;
    const group = await nodes();
    await during(group.grow(growth(HOUR_MS, 'grp-a'), going()));
    // Between the look at the request and its cancellation.
    scene.fake.failureRules.add({
      action: 'compute.instanceGroupManagerResizeRequests.cancel',
      when: () => {
        grantWaiting(compute);
        return false;
      },
      what: { kind: 'throttle' },
    });
    const [outcome] = await during(group.cancel(['grp-a'], going()));
    await scene.clock.advance(MINUTE_MS);

    expect(outcome?.fault?.kind).toBe('conflict');
    expect(fake.managed.map(({ name }) => name)).toEqual(['grp-a']);
  });

  it('counts the requests of others that name no instances, and takes nothing of theirs for an instance', async () => {
    const { compute, during, nodes, group: fake } = openScene();
    fake.requests.push({
      ...{ id: '7', name: 'theirs', names: ['grp-x', 'grp-y'], isNamed: false, runForMs: undefined },
      ...{ madeAtMs: compute.clock.now(), lastError: undefined, outcome: undefined },
    });
    const state = await during((await nodes()).describe(going()));

    expect(state).toMatchObject({ wanted: 2, instances: [], requests: [{ id: 'theirs', count: 2, state: 'waiting' }] });
  });

  it('drops its requests that are over at a later growth, and keeps those of others', async () => {
    const { compute, during, nodes, scene, group: fake } = openScene();
    const group = await nodes();
    await during(group.grow(growth(HOUR_MS, 'grp-a'), going()));
    fake.requests.push({
      ...{ id: '7', name: 'theirs', names: [], isNamed: false, runForMs: undefined, lastError: undefined },
      ...{ madeAtMs: 0, outcome: { atMs: 0, state: 'SUCCEEDED' } as const },
    });
    await scene.clock.advance(MINUTE_MS);
    await during(group.grow({ ...growth(HOUR_MS, 'grp-b'), id: 'g2' }, going()));

    expect(fake.requests.map(({ name }) => name).toSorted()).toEqual(['grp-b', 'theirs']);
    expect(compute.instances).toHaveLength(2);
  });

  it('refuses times that Google does not take before it asks for anything', async () => {
    const { during, nodes, group: fake } = openScene();
    const group = await nodes();

    await expect(during(group.grow(growth(MINUTE_MS, 'grp-a'), going()))).rejects.toMatchObject({ kind: 'invalid' });
    await expect(during(group.grow(growth(8 * DAY_MS, 'grp-a'), going()))).rejects.toMatchObject({ kind: 'invalid' });
    expect(fake.requests).toEqual([]);
  });

  it('asks again only for what was not taken in where a growth broke off', async () => {
    const { during, nodes, scene, group: fake } = openScene();
    const group = await nodes();
    scene.fake.failureRules.add({
      action: 'compute.instanceGroupManagerResizeRequests.insert',
      what: { kind: 'lost request' },
      after: 1,
      times: 1,
    });
    const wanted = growth(HOUR_MS, 'grp-a', 'grp-b', 'grp-c');

    await expect(during(group.grow(wanted, going()))).rejects.toMatchObject({ kind: 'unavailable' });
    await during(group.grow(wanted, going()));
    expect(fake.requests.map(({ name }) => name).toSorted()).toEqual(['grp-a', 'grp-b', 'grp-c']);
  });
});

describe('a growth that is repeated when Google has forgotten its request id', () => {
  it('makes nothing again of instances that are there', async () => {
    const { compute, during, nodes, scene } = openScene();
    const group = await nodes();
    const wanted = { id: 'g1', count: 2, to: 2, names: ['grp-a', 'grp-b'] };
    await during(group.grow(wanted, going()));
    await scene.clock.advance(MINUTE_MS);
    compute.requests.clear();
    await during(group.grow(wanted, going()));
    await scene.clock.advance(MINUTE_MS);

    expect(compute.instances.map(({ name }) => name)).toEqual(['grp-a', 'grp-b']);
  });

  it('queues nothing again of a request that was granted, though its instance is gone', async () => {
    const { compute, during, nodes, scene } = openScene();
    const group = await nodes();
    const wanted = growth(HOUR_MS, 'grp-a');
    await during(group.grow(wanted, going()));
    await scene.clock.advance(2 * HOUR_MS);
    compute.requests.clear();
    await during(group.grow(wanted, going()));

    expect(compute.instances).toHaveLength(1);
    expect((await during(group.describe(going()))).wanted).toBe(0);
  });
});

it('a name whose groups both have nodes at hand stays ambiguous', async () => {
  const { find, scene, has } = openScene();
  const other = addNodeGroup(scene, 'zones/us-central1-b', 'grp');
  await has(1);
  await has(1, other);
  const idIn = (zone: string): string => `gce://${PROJECT}/${zone}/grp-n0`;

  expect(await find('grp', [idIn('us-central1-a'), idIn('us-central1-b')])).toMatchObject({ reason: 'GroupAmbiguous' });
  expect(((await find('grp', [idIn('us-central1-b')])) as NodeGroup).id).toContain('us-central1-b');
});

it('an instance that the group recreates under its name has another id, and the old id removes nothing', async () => {
  const { compute, during, nodes, scene, group: fake, has } = openScene();
  await has(1);
  const group = await nodes();
  const [before] = (await during(group.describe(going()))).instances;
  const [instance] = compute.instances;
  if (instance) recreate(compute, fake, { instance, endMs: scene.clock.now() });
  await scene.clock.advance(MINUTE_MS);
  const [after] = (await during(group.describe(going()))).instances;
  await during(group.remove([before?.id ?? ''], going()));
  await scene.clock.advance(MINUTE_MS);

  expect(after?.name).toBe(before?.name);
  expect(after?.id).not.toBe(before?.id);
  expect((await during(group.describe(going()))).instances).toEqual([after]);
});

it('tells when each instance was made, without asking again for what it knows', async () => {
  const { during, nodes, scene, has } = openScene();
  const madeAt = scene.clock.now();
  await has(12);
  const group = await nodes();
  const times = (await during(group.describe(going()))).instances.map(({ createdAt }) => createdAt);
  const asked = scene.fake.countOf('compute.instances.list');
  await during(group.describe(going()));

  expect(new Set(times)).toEqual(new Set([madeAt]));
  expect(asked).toBe(1);
  expect(scene.fake.countOf('compute.instances.list')).toBe(1);
});

it('takes a name with its zone, and the address of a group', async () => {
  const { find, scene } = openScene();
  addNodeGroup(scene, 'zones/us-central1-b', 'grp');
  const url = `https://www.googleapis.com/compute/v1/projects/${PROJECT}/zones/us-central1-b/instanceGroupManagers/grp`;

  expect(((await find('us-central1-a/grp')) as NodeGroup).id).toContain('us-central1-a');
  expect(((await find(url)) as NodeGroup).id).toContain('us-central1-b');
  expect((await find('grp')) as GroupRefusal).toMatchObject({
    reason: 'GroupAmbiguous',
    message: expect.stringContaining('grp in us-central1-b'),
  });
});

it('refuses a regional group that redistributes its instances, and names the command that stops it', async () => {
  const { scene, during, find } = openScene();
  addNodeGroup(scene, 'regions/us-central1', 'spread').isRedistributed = true;
  const group = (await find('spread')) as NodeGroup;

  expect((await during(group.describe(going()))).refusal).toMatchObject({
    reason: 'GroupRedistributes',
    remedy: expect.stringContaining('--instance-redistribution-type=none'),
  });
});

it('makes a group that heals and spreads nothing by itself, and refuses a template that is not configured', async () => {
  const { during, groups, scene } = openScene();
  const { create } = await groups;
  const made = await during(
    create?.({ name: 'h100', template: 'h100', provisioner: 'big.one' }, going()) as Promise<NodeGroup>,
  );
  const [call] = scene.fake.calls.filter(({ action }) => action === 'compute.instanceGroupManagers.insert');

  expect(made.madeFor).toBe('big.one');
  expect(call?.body).toMatchObject({
    targetSize: 0,
    instanceLifecyclePolicy: { defaultActionOnFailure: 'DO_NOTHING' },
    updatePolicy: { type: 'OPPORTUNISTIC', instanceRedistributionType: 'NONE' },
  });
  const labels = (await during(made.describe(going()))).template.labels;
  expect(labels['nodeprovisioner.compute.baseten.co/provisioner-name']).toBe('big.one');
  await expect(
    during(create?.({ name: 'x', template: 'a100', provisioner: 'p' }, going()) as Promise<NodeGroup>),
  ).rejects.toMatchObject({ kind: 'invalid' });
});

describe('a group behind a node pool of GKE', () => {
  const CLUSTER = `projects/${PROJECT}/locations/us-central1/clusters/velda`;

  function openPool(isAutoscaled: boolean) {
    const opened = openScene();
    const { scene, compute, group } = opened;
    const { world } = scene.fake;
    compute.templates.set(`${PROJECT}/of-gke`, {
      ...{ id: '7', machineType: 'a3-highgpu-8g', isSpot: false },
      metadata: {
        ...{ 'cluster-name': 'velda', 'cluster-location': 'us-central1' },
        'kube-env': 'AUTOSCALER_ENV_VARS: node_labels=cloud.google.com/gke-nodepool=gpus\n',
      },
    });
    group.template = 'of-gke';
    world.clusters.set(CLUSTER, { name: 'velda', location: 'us-central1' });
    const pool = { name: 'gpus', status: 'RUNNING', config: {}, locations: [], instanceGroupUrls: [] };
    world.pools.set(CLUSTER, [{ ...pool, autoscaling: { enabled: isAutoscaled } }]);
    return opened;
  }

  it.each([
    [true, 'GroupHasAutoscaler'],
    [false, undefined],
  ])('that GKE sizes (%s) is refused as %s', async (isAutoscaled, reason) => {
    const { during, nodes } = openPool(isAutoscaled);
    const group = await nodes();

    expect((await during(group.describe(going()))).refusal?.reason).toBe(reason);
  });

  it('is not sized while the right to read the pool is missing', async () => {
    const { during, nodes, scene } = openPool(false);
    scene.fake.world.denied.add('container.clusters.get');
    const group = await nodes();
    const grown = during(group.grow({ id: 'g1', count: 1, to: 1, names: ['grp-a'] }, going()));

    await expect(grown).rejects.toMatchObject({ kind: 'conflict' });
    expect((await during(group.describe(going()))).refusal?.reason).toBe('GroupUnreadable');
  });
});

it('a request without a time counts as made now, not as one that has waited for ever', () => {
  const [request] = nodeRequestOf({ name: 'theirs', state: 'ACCEPTED', resizeBy: 1 }, new Set(), 7);

  expect(request?.createdAt).toBe(7);
});
