import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Outcome } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { createManaged, recreate } from '../fake/compute/group.ts';
import { groupIn, openComputeScene } from '../fake/compute/testing/scene.ts';

const CREATION = 'compute.instanceGroupManagers.createInstances';
const REMOVAL = 'compute.instanceGroupManagers.deleteInstances';

async function faultOf(call: Promise<unknown>): Promise<Fault> {
  return call.then(
    () => new Fault('internal', 'there was no fault'),
    (thrown: unknown) => Fault.from(thrown),
  );
}

describe('a launch in a group', () => {
  it('asks for its names in one call, and for nothing by size', async () => {
    const scene = openComputeScene();
    const backend = await scene.openGroup();
    const { names } = aBatch(3);
    await scene.during(backend.create(aBatch(3), going()));

    const [creation] = scene.fake.calls.filter(({ action }) => action === CREATION);
    const { instances = [] } = (creation?.body ?? {}) as { instances?: { name: string }[] };
    expect(instances.map(({ name }) => name)).toEqual(names);
    expect(creation?.query.requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(scene.fake.calls.filter(({ path }) => path.includes('resize'))).toEqual([]);
  });

  it('brings the agent after the start-up script of the template', async () => {
    const scene = openComputeScene();
    const template = { id: '7', machineType: 'g2-standard-4', isSpot: true };
    const theirs = '#!/bin/bash\necho theirs\n';
    scene.compute.templates.set('my-project/velda-workers-v1', { ...template, metadata: { 'startup-script': theirs } });
    const backend = await scene.openGroup({ agentConfig: { labels: { team: 'ml' } } });
    const launch = aBatch(1);
    await scene.during(backend.create(launch, going()));

    const script = scene.compute.instances[0]?.metadata['startup-script'] ?? '';
    expect(script.indexOf('echo theirs')).toBeGreaterThan(0);
    expect(script.indexOf('muster-agent')).toBeGreaterThan(script.indexOf('echo theirs'));
    const file = /<<'MUSTER_END'\n(broker:[\s\S]*?)\nMUSTER_END/.exec(script)?.[1] ?? '';
    expect(parse(file)).toMatchObject({ notices: 'gcp', labels: { team: 'ml' }, joinToken: launch.boot.token });
  });

  it('writes the mark into the name, and nothing else, where that is wanted', async () => {
    const scene = openComputeScene();
    const backend = await scene.openGroup({ marks: 'name' });
    const launch = aBatch(1);
    await scene.during(backend.create(launch, going()));
    const [machine] = await scene.during(backend.list(going()));

    const [instance] = scene.compute.instances;
    expect(instance?.name).toBe(`${launch.names[0]}-cluster1-0123456789ab`);
    // What Google itself adds.
    expect(Object.keys(instance?.metadata ?? {})).toEqual(['created-by']);
    expect(machine).toMatchObject({ name: launch.names[0], mark: launch.mark, id: instance?.id });
  });

  it('that is repeated later, by another server too, sends the very same bytes', async () => {
    const scene = openComputeScene();
    const backend = await scene.openGroup();
    scene.fake.failureRules.add({ action: CREATION, what: { kind: 'lost reply' } });
    await faultOf(scene.during(backend.create(aBatch(2), going())));
    await scene.clock.advance(90 * SECOND_MS);
    await scene.during((await scene.openGroup()).create(aBatch(2), going()));

    const [first, ...repeats] = scene.fake.calls.filter(({ action }) => action === CREATION);
    expect(repeats).not.toEqual([]);
    for (const { query, body } of repeats) expect({ query, body }).toEqual({ query: first?.query, body: first?.body });
  });

  it('that is repeated after Google has forgotten the request asks only for what is missing', async () => {
    const scene = openComputeScene();
    const launch = aBatch(3);
    await scene.during((await scene.openGroup()).create(launch, going()));
    scene.compute.requests.clear();
    const [first] = scene.group.managed;
    scene.group.managed.splice(0, 1);
    const outcomes = await createdBy(scene, await scene.openGroup(), launch);

    expect(outcomes).toEqual(launch.names.map((name) => ({ name })));
    expect(scene.group.managed.map(({ name }) => name).toSorted()).toEqual([...launch.names].toSorted());
    expect(first?.name).toBe(launch.names[0]);
  });
});

describe('a group that cannot make an instance', () => {
  it.each([
    ['capacity', 'exhausted', 'ZONE_RESOURCE_POOL_EXHAUSTED', 'offer another machine type or zone'],
    ['quota', 'quota', "Quota 'CPUS' exceeded", 'Raise the quota'],
  ] as const)('for want of %s refuses that name, and no longer tries', async (what, kind, cause, remedy) => {
    const scene = openComputeScene();
    if (what === 'capacity') scene.compute.stock.set('e2-standard-4 us-central1-a', 1);
    else scene.compute.cpus.set('us-central1', 4);
    const backend = await scene.openGroup();
    const { names } = aBatch(2);
    const outcomes = await createdBy(scene, backend, aBatch(2));
    const refused = { name: names[1] ?? '', mark: aBatch(2).mark, createdAt: 0, state: 'creating' } as const;
    await scene.during(backend.delete([refused], going()));
    await scene.clock.advance(5 * SECOND_MS);

    expect(outcomes.map(({ fault }) => fault?.kind)).toEqual([undefined, kind]);
    expect(outcomes[1]?.fault?.message).toContain(cause);
    expect(outcomes[1]?.fault?.message).toContain(remedy);
    expect(await scene.during(backend.list(going()))).toMatchObject([{ name: names[0] }]);
  });

  it('says so at its next look, while others of the launch still wait for their place', async () => {
    const scene = openComputeScene({ bootMs: HOUR_MS });
    scene.compute.stock.set('e2-standard-4 us-central1-a', 1);
    const backend = await scene.openGroup();
    const startMs = scene.clock.monotonic();
    const isTold = (told: readonly Outcome[]): boolean => told.some(({ fault }) => fault);
    const outcomes = await createdBy(scene, backend, aBatch(2), isTold);
    const tookMs = scene.clock.monotonic() - startMs;

    expect(outcomes.map(({ fault }) => fault?.kind)).toEqual([undefined, 'exhausted']);
    expect(tookMs).toBeLessThan(scene.compute.behaviour.lateMs + 3 * SECOND_MS);
  });

  it('says so also to a server that has just started, by its listing', async () => {
    const scene = openComputeScene();
    scene.compute.stock.set('e2-standard-4 us-central1-a', 0);
    const [name = ''] = aBatch(1).names;
    const muster_mark = 'cluster1/worker/pool1/0123456789ab/0';
    createManaged(scene.compute, scene.group, [{ name, preservedState: { metadata: { muster_mark } } }]);
    await scene.clock.advance(10 * SECOND_MS);
    const backend = await scene.openGroup();
    const [machine] = await scene.during(backend.list(going()));

    expect(machine).toMatchObject({ name, state: 'creating', trouble: { kind: 'exhausted', final: true } });
    await scene.during(backend.delete([machine as NonNullable<typeof machine>], going()));
    expect(await scene.during(backend.list(going()))).toEqual([]);
  });

  it('waits for what the group itself may still mend', async () => {
    const scene = openComputeScene();
    scene.fake.failureRules.add({
      action: 'compute.instanceGroupManagers.listManagedInstances',
      times: 3,
      what: { kind: 'garbage' },
    });
    const backend = await scene.openGroup();
    const outcomes = await createdBy(scene, backend, aBatch(1));

    expect(outcomes.map(({ fault }) => fault)).toEqual([undefined]);
    expect(scene.fake.countOf(REMOVAL)).toBe(0);
  });
});

describe('what a group must not be', () => {
  it('one that scales itself: refused with the two ways out, also when that is set later', async () => {
    const scene = openComputeScene();
    const backend = await scene.openGroup();
    scene.group.autoscaler = 'velda-workers-autoscaler';
    await scene.clock.advance(61 * SECOND_MS);
    const later = await faultOf(scene.during(backend.create(aBatch(1), going())));
    const atOnce = await faultOf(scene.openGroup());

    for (const { kind, message, remedy } of [later, atOnce]) {
      expect(kind).toBe('invalid');
      expect(message).toBe('The instance group velda-workers has an autoscaler of its own, velda-workers-autoscaler.');
      expect(remedy).toContain('stop-autoscaling velda-workers --zone=us-central1-a --project=my-project');
      expect(remedy).toContain('or name a group without one');
    }
    expect(scene.fake.countOf(CREATION)).toBe(0);
  });

  it('a regional one that redistributes its instances: refused with the two ways out', async () => {
    const scene = openComputeScene();
    groupIn(scene.compute, 'regions/us-central1', 'velda-regional').isRedistributed = true;
    const config = { zone: undefined, region: 'us-central1', instanceGroup: 'velda-regional' };
    const { kind, message, remedy } = await faultOf(scene.openGroup(config));

    expect(kind).toBe('invalid');
    expect(message).toBe('The regional instance group velda-regional redistributes its instances among its zones.');
    expect(remedy).toContain('update velda-regional --region=us-central1 --project=my-project --instance-redist');
    expect(remedy).toContain('or name a zonal group');
  });

  it.each([
    [
      { instanceGroup: 'velda-worker' },
      'Google Cloud lists no instance_group "velda-worker"; did you mean "velda-workers"?',
    ],
    [{ zone: 'us-centrl1-a' }, 'Google Cloud lists no zone "us-centrl1-a"; did you mean "us-central1-a"?'],
    [
      { zone: undefined, region: 'us-centra1' },
      'Google Cloud lists no region "us-centra1"; did you mean "us-central1"?',
    ],
  ])('unknown: %j', async (config, remedy) => {
    const scene = openComputeScene();

    expect((await faultOf(scene.openGroup(config))).remedy).toBe(remedy);
  });

  it('of another project, or without a right, says what to do', async () => {
    const scene = openComputeScene();
    scene.fake.world.denied.add('compute.instanceGroupManagers.get');
    const { kind, remedy } = await faultOf(scene.openGroup());

    expect(kind).toBe('denied');
    expect(remedy).toContain('roles/compute.instanceAdmin.v1 in the project my-project');
  });
});

describe('a listing of a group', () => {
  it('is whole also where the group gives no pages, and where Google takes no mask', async () => {
    const scene = openComputeScene({ pageSize: 2 });
    scene.fake.failureRules.add({
      when: ({ query }) => query.fields?.includes('managedInstances') === true,
      times: 100,
      what: { kind: 'error', code: 'invalidParameter', message: 'Invalid field selection', status: 400 },
    });
    scene.group.isPaginated = false;
    const backend = await scene.openGroup();
    await scene.during(backend.create(aBatch(5), going()));

    expect(await scene.during(backend.list(going()))).toHaveLength(5);
  });

  it('shows another id under the same name once the group has recreated an instance', async () => {
    const scene = openComputeScene();
    const backend = await scene.openGroup();
    await scene.during(backend.create(aBatch(1), going()));
    const [before] = await scene.during(backend.list(going()));
    const [instance] = scene.compute.instances;
    if (instance) recreate(scene.compute, scene.group, { instance, endMs: scene.clock.now() });
    await scene.clock.advance(SECOND_MS);
    const [meanwhile] = await scene.during(backend.list(going()));
    await scene.clock.advance(10 * SECOND_MS);
    const [after] = await scene.during(backend.list(going()));

    expect(meanwhile?.state).toBe('creating');
    expect(after).toMatchObject({ name: before?.name, state: 'running' });
    expect(after?.id).not.toBe(before?.id);
  });
});

it('a regional group deletes each instance in its own zone', async () => {
  const scene = openComputeScene();
  const regional = groupIn(scene.compute, 'regions/us-central1', 'velda-regional');
  const backend = await scene.openGroup({ zone: undefined, region: 'us-central1', instanceGroup: 'velda-regional' });
  await scene.during(backend.create(aBatch(3), going()));
  const machines = await scene.during(backend.list(going()));
  await scene.during(backend.delete(machines, going()));
  await scene.clock.advance(5 * SECOND_MS);

  expect(new Set(regional.managed.map(({ zone }) => zone)).size).toBe(3);
  expect(await scene.during(backend.list(going()))).toEqual([]);
});
