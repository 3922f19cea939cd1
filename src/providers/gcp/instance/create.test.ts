import { describe, expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { aBatch, createdBy } from '../../../conformance/scene.ts';
import { openComputeScene } from '../fake/compute/testing/scene.ts';

const CREATION = 'compute.instances.bulkInsert';

async function faultOf(call: Promise<unknown>): Promise<Fault> {
  return call.then(
    () => new Fault('internal', 'there was no fault'),
    (thrown: unknown) => Fault.from(thrown),
  );
}

type Properties = Readonly<Record<string, unknown>>;

async function propertiesFor(config: object): Promise<Properties> {
  const scene = openComputeScene();
  const backend = await scene.openInstances(config);
  await scene.during(backend.create(aBatch(1), going()));
  const [creation] = scene.fake.calls.filter(({ action }) => action === CREATION);
  return creation?.body.instanceProperties as Properties;
}

describe('what is asked for', () => {
  it('is all of a launch by one call, from the newest image of the family', async () => {
    const scene = openComputeScene();
    const backend = await scene.openInstances();
    const launch = aBatch(5);
    await scene.during(backend.create(launch, going()));
    const [creation] = scene.fake.calls.filter(({ action }) => action === CREATION);

    expect(Object.keys(creation?.body.perInstanceProperties as object)).toEqual(launch.names);
    expect(creation?.body).toMatchObject({
      count: 5,
      minCount: 1,
      instanceProperties: {
        machineType: 'e2-standard-4',
        labels: { 'muster-cluster': 'cluster1', 'muster-pool': 'pool1', 'muster-shape': '0123456789ab' },
        disks: [
          {
            boot: true,
            autoDelete: true,
            initializeParams: { sourceImage: expect.stringContaining('bookworm-v2026') },
          },
        ],
        networkInterfaces: [{ network: 'global/networks/default', accessConfigs: [{ type: 'ONE_TO_ONE_NAT' }] }],
      },
    });
    expect(scene.fake.countOf(CREATION)).toBe(1);
    expect(await scene.during(backend.form?.(going()) ?? Promise.resolve(''))).toBe(
      'projects/debian-cloud/global/images/debian-12-bookworm-v20261110',
    );
  });

  it('has every setting of the pool', async () => {
    const properties = await propertiesFor({
      image: 'ubuntu-os-cloud/ubuntu-2404-lts-amd64',
      diskSizeGb: 100,
      diskType: 'pd-ssd',
      subnetwork: 'private',
      externalIp: false,
      serviceAccount: 'workers@my-project.iam.gserviceaccount.com',
      tags: ['muster-agent'],
      labels: { team: 'ml' },
      metadata: { 'enable-oslogin': 'TRUE' },
      startupScript: 'echo mine',
      acceleratorType: 'nvidia-tesla-t4',
      acceleratorCount: 2,
    });

    expect(properties).toMatchObject({
      disks: [{ initializeParams: { diskSizeGb: 100, diskType: 'pd-ssd' } }],
      networkInterfaces: [{ subnetwork: 'regions/us-central1/subnetworks/private' }],
      serviceAccounts: [{ email: 'workers@my-project.iam.gserviceaccount.com' }],
      tags: { items: ['muster-agent'] },
      labels: { team: 'ml' },
      guestAccelerators: [{ acceleratorType: 'nvidia-tesla-t4', acceleratorCount: 2 }],
      // A machine with GPUs cannot move to another host.
      scheduling: { onHostMaintenance: 'TERMINATE' },
    });
    const { items } = properties.metadata as { items: { key: string; value: string }[] };
    expect(items.find(({ key }) => key === 'enable-oslogin')?.value).toBe('TRUE');
    expect(items.find(({ key }) => key === 'startup-script')?.value).toContain('echo mine');
    expect(JSON.stringify(properties)).not.toContain('ONE_TO_ONE_NAT');
  });

  it('is deleted by Google when it is spot, and its agent reads the notice', async () => {
    const properties = await propertiesFor({ provisioningModel: 'spot' });

    expect(properties.scheduling).toMatchObject({ provisioningModel: 'SPOT', instanceTerminationAction: 'DELETE' });
    expect(JSON.stringify(properties.metadata)).toContain('notices: gcp');
  });
});

describe('a zone with less room than wanted', () => {
  it('makes what it can; the other names are refused', async () => {
    const scene = openComputeScene();
    scene.compute.stock.set('e2-standard-4 us-central1-a', 2);
    const backend = await scene.openInstances();
    const outcomes = await createdBy(scene, backend, aBatch(4));

    expect(outcomes.map(({ fault }) => fault?.kind)).toEqual([undefined, undefined, 'exhausted', 'exhausted']);
    expect(outcomes[3]?.fault?.message).toBe('us-central1-a had no room for 2 of 4 instances of e2-standard-4.');
  });
});

it('a launch that is repeated after Google has forgotten the request asks only for what is missing', async () => {
  const scene = openComputeScene();
  const launch = aBatch(3);
  await scene.during((await scene.openInstances()).create(launch, going()));
  scene.compute.requests.clear();
  scene.compute.instances.splice(0, 1);
  const outcomes = await createdBy(scene, await scene.openInstances(), launch);

  expect(outcomes).toEqual(launch.names.map((name) => ({ name })));
  expect(scene.compute.instances.map(({ name }) => name).toSorted()).toEqual([...launch.names].toSorted());
});

it('a zone that does not answer fails the listing: its machines are not taken for gone', async () => {
  const scene = openComputeScene();
  const backend = await scene.openInstances();
  await scene.during(backend.create(aBatch(2), going()));
  scene.compute.silentZones.add('us-central1-a');
  const fault = await faultOf(scene.during(backend.list(going())));

  expect(fault).toMatchObject({ kind: 'unavailable' });
  expect(fault.message).toContain('did not list the instances of zones/us-central1-a');
});

it.each([
  [{ machineType: 'e2-standrd-4' }, 'Google Cloud lists no machine_type "e2-standrd-4"; did you mean "e2-standard-4"?'],
  [{ zone: 'us-centrl1-a' }, 'Google Cloud lists no zone "us-centrl1-a"; did you mean "us-central1-a"?'],
  [
    { image: 'debian-cloud/debian-13' },
    "Correct image: gcloud compute images list --project=debian-cloud --format='value(family)'.",
  ],
])('a name that Google does not know is refused with the nearest: %j', async (config, remedy) => {
  const scene = openComputeScene();
  const backend = await scene.openInstances(config);
  const fault = await faultOf(scene.during(backend.create(aBatch(1), going())));

  expect(fault.remedy).toBe(remedy);
});

it('an instance that is stopped and has no room to start says so', async () => {
  const scene = openComputeScene();
  const backend = await scene.openInstances({ maxStoppedInstances: 1 });
  await scene.during(backend.create(aBatch(1), going()));
  const [machine] = await scene.during(backend.list(going()));
  if (!machine || !backend.park) return expect.unreachable();
  await scene.during(backend.park.suspend([machine], going()));
  await scene.clock.advance(5 * SECOND_MS);
  scene.compute.stock.set('e2-standard-4 us-central1-a', 0);
  const [outcome] = await scene.during(backend.park.resume([machine], going()));

  expect(outcome?.fault?.kind).toBe('exhausted');
});

it.each([
  ['g2-standard-4', 'TERMINATE'],
  ['a2-highgpu-1g', 'TERMINATE'],
  ['a4x-highgpu-4g', 'TERMINATE'],
  ['ct5lp-hightpu-4t', 'TERMINATE'],
  ['c4a-standard-4', undefined],
  ['e2-standard-4', undefined],
])('an instance of the type %s has the policy for maintenance of its host: %s', async (machineType, policy) => {
  const scene = openComputeScene();
  const backend = await scene.openInstances({ machineType });
  await scene.during(backend.create(aBatch(1), going()));
  const { body } = scene.fake.calls.findLast(({ action }) => action === 'compute.instances.bulkInsert') ?? {};
  const { scheduling } = (body?.instanceProperties ?? {}) as { scheduling?: { onHostMaintenance?: string } };

  expect(scheduling?.onHostMaintenance).toBe(policy);
});
