// What computers want beside workers: a port, an end, and a machine that needs nothing but a type.
import { expect, it } from 'vitest';
import type { Backend, Machine } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aLaunchWith } from '../../../conformance/backend-world.ts';
import { createdBy } from '../../../conformance/scene.ts';
import type { Instance } from '../fake/ec2/instance.ts';
import { SEED_DATA } from '../fake/seed-data.ts';
import { bootable } from '../fake/serve.ts';
import { type AwsScene, openBackend, openScene, REGION } from '../testing.ts';

const SMALL = { region: REGION, instanceType: 't2.micro' };
const NAME = 'm-dev-c1-0123456789';
const ARCHIVES = [{ machine: 'x86_64', url: 'https://muster:8081/agent/agent.tar.gz', sha256: 'ab12' }];

async function launched(scene: AwsScene, config: object = {}) {
  const backend = await scene.during(openBackend(scene, { ...SMALL, ...config }));
  const launch = aLaunchWith({ port: 8_000, endsAt: 3_600_000 }, NAME);
  const outcomes = await createdBy(scene, backend, {
    ...launch,
    boot: { ...launch.boot, install: { archives: ARCHIVES } },
  });
  const list = (): Promise<readonly Machine[]> => scene.during(backend.list(going()));
  return { backend, outcomes, list, instance: scene.fake.machines()[0] };
}

const stop = (backend: Backend, machines: readonly Machine[]) => backend.park?.suspend(machines, going());

it('a type alone makes an instance of the standard image in the default group, with its public address first', async () => {
  const { list, instance } = await launched(openScene());
  const [machine] = await list();

  expect(instance).toMatchObject({ imageId: SEED_DATA.standardImage, groups: [{ name: 'default' }] });
  expect(machine?.endpoints).toEqual([
    { host: instance?.publicIp, port: 8_000 },
    { host: instance?.privateIp, port: 8_000 },
  ]);
});

it('security groups are found by name; an unknown one is named in the fault', async () => {
  const { instance } = await launched(openScene(), { securityGroups: ['velda-agent'] });
  expect(instance?.groups).toMatchObject([{ id: SEED_DATA.group }]);

  await expect(launched(openScene(), { securityGroups: ['commandlab-daemon'] })).rejects.toMatchObject({
    kind: 'missing',
    message: expect.stringContaining("The security group 'commandlab-daemon' does not exist in default VPC"),
    remedy: 'Correct security_group_ids or security_groups.',
  });
});

it('an instance that shuts itself down is terminated, without a call of the server', async () => {
  const scene = openScene();
  const { list, instance } = await launched(scene);
  const seen = bootable(instance as Instance, scene.fake.world);
  seen.poweredOff?.(scene.clock.now());
  await scene.clock.advance(60_000);

  expect(seen.state(scene.clock.now())).toBe('gone');
  expect(await list()).toEqual([]);
});

it('an instance that someone stopped outside is listed as suspended, and can be deleted', async () => {
  const scene = openScene();
  const { backend, list } = await launched(scene, { maxStoppedInstances: 1 });
  await scene.during(stop(backend, await list()) ?? Promise.resolve([]));
  await scene.clock.advance(60_000);
  const machines = await list();
  expect(machines.map(({ state }) => state)).toEqual(['suspended']);

  await scene.during(backend.delete(machines, going()));
  await scene.clock.advance(60_000);
  expect(await list()).toEqual([]);
});
