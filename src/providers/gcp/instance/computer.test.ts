// What computers want beside workers: a port, an end, and a machine that needs nothing but a type.
import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Boot, Machine } from '#core/provider.ts';
import { going } from '#core/testing/going.ts';
import { aLaunchWith } from '../../../conformance/backend-world.ts';
import { createdBy } from '../../../conformance/scene.ts';
import { bootable, type FakeInstance, innerAddress, outerAddress } from '../fake/compute/instance.ts';
import { stopInstance } from '../fake/compute/make.ts';
import { type ComputeScene, openComputeScene } from '../fake/compute/testing/scene.ts';
import { endOf, runSeconds } from './run-time.ts';

const NAME = 'm-dev-c1-0123456789';

async function launched(scene: ComputeScene, boot: Partial<Boot>, config: object = {}) {
  const backend = await scene.openInstances({ machineType: 'n1-standard-1', ...config });
  const launch = aLaunchWith(boot, NAME);
  const agentConfig = `${launch.boot.agentConfig}endsAt: 1970-01-01T01:00:00.000Z\n`;
  await createdBy(scene, backend, { ...launch, boot: { ...launch.boot, agentConfig } });
  await scene.clock.advance(10_000);
  const list = (): Promise<readonly Machine[]> => scene.during(backend.list(going()));
  return { list, instance: scene.compute.instances[0] as FakeInstance };
}

it('a machine type alone makes an instance that shows its port, at the external address first', async () => {
  const { list, instance } = await launched(openComputeScene(), { port: 8_000 });
  const [machine] = await list();

  expect(machine?.endpoints).toEqual([
    { host: outerAddress(instance), port: 8_000 },
    { host: innerAddress(instance), port: 8_000 },
  ]);
});

it('without an external address the internal one alone is shown', async () => {
  const { list, instance } = await launched(openComputeScene(), { port: 8_000 }, { externalIp: false });

  expect((await list())[0]?.endpoints).toEqual([{ host: innerAddress(instance), port: 8_000 }]);
});

it('Google deletes an instance with an end, and its agent does not shut it down before', async () => {
  const scene = openComputeScene();
  const { list, instance } = await launched(scene, { endsAt: HOUR_MS });
  expect((await list())[0]?.endsAt).toBe(instance.madeAtMs + scene.compute.behaviour.bootMs + HOUR_MS);
  expect(instance.metadata['startup-script']).not.toMatch(/endsAt|poweroff/);

  await scene.clock.advance(HOUR_MS);
  expect(await list()).toEqual([]);
});

it('an instance whose end is later than Google takes shuts itself down, and is listed as suspended', async () => {
  const scene = openComputeScene();
  const { list, instance } = await launched(scene, { endsAt: 121 * DAY_MS });
  expect(instance.metadata['startup-script']).toMatch(/systemctl poweroff/);

  bootable(instance, () => stopInstance(scene.compute, instance)).poweredOff?.(scene.clock.now());
  await scene.clock.advance(MINUTE_MS);
  expect(await list()).toMatchObject([{ state: 'suspended' }]);
  expect((await list())[0]?.endsAt).toBeUndefined();
});

it.each([
  [undefined, undefined],
  [10_000, 30],
  [90_500, 91],
  [120 * DAY_MS, 10_368_000],
  [120 * DAY_MS + 1, undefined],
])('an end %s ms after the launch is a run time of %s s', (endsAt, seconds) => {
  const { boot } = aLaunchWith({}, NAME);

  expect(runSeconds({ boot: { ...boot, endsAt }, askedAt: 0 })).toBe(seconds);
});

it('an end that Google has not named yet is counted from the last start', () => {
  const instance = {
    ...{ id: '1', name: NAME, zone: 'z', status: 'RUNNING', creationTimestamp: '2026-01-01T00:00:00Z' },
    scheduling: { maxRunDuration: { seconds: '60' }, instanceTerminationAction: 'DELETE' },
  };
  const at = (text: string): number => Date.parse(text);

  expect(endOf(instance)).toBe(at('2026-01-01T00:01:00Z'));
  expect(endOf({ ...instance, lastStartTimestamp: '2026-01-01T00:00:20Z' })).toBe(at('2026-01-01T00:01:20Z'));
  expect(endOf({ ...instance, status: 'TERMINATED' })).toBeUndefined();
  expect(endOf({ ...instance, scheduling: {} })).toBeUndefined();
});
