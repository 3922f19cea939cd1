import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Computers } from '#core/computer.ts';
import type { SliceCloud } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import { testComputers } from '../../../../conformance/computers.ts';
import { type ComputerSuite, callerAt } from '../../../../conformance/computers-world.ts';
import { GROUP, SUBSCRIPTION } from '../testing.ts';
import { shown } from './answer.ts';
import { type FakeGroup, stateOf } from './groups.ts';
import { containersIn, GROUP_SLICE } from './testing/slice.ts';
import { groupsIn, IMAGE } from './testing.ts';

const error = (code: string, status: number, message = code) => ({ kind: 'error', code, message, status }) as const;

function groupOf({ fake }: SliceCloud, name: string): FakeGroup {
  const found = containersIn(fake).all.find((one) => one.name === name);
  if (!found) throw new Error(`There is no container group ${name}.`);
  return found;
}

const GROUP_COMPUTERS: ComputerSuite = {
  ...GROUP_SLICE,
  request: () => ({
    platform: 'azure_container_instances',
    options: { subscription_id: SUBSCRIPTION, resource_group: GROUP, image: IMAGE },
  }),
  // Also those whose containers have ended: they cost nothing, and must not stay.
  held: ({ fake }) => groupsIn(containersIn(fake), Number.MAX_SAFE_INTEGER),
  shown: ({ fake }) => [
    ...containersIn(fake).all.map((one) => JSON.stringify([shown(one, 0), one.log])),
    JSON.stringify(fake.calls),
  ],
  isSealed: true,
  refusals: [
    [
      'exhausted',
      error('ServiceUnavailable', 409, "The requested resource is not available in the location 'eastus'."),
    ],
    ['quota', error('ContainerGroupQuotaReached', 400)],
    ['invalid', error('InaccessibleImage', 400)],
  ],
  vanish: ({ fake, ...cloud }, { name }) => void containersIn(fake).end(groupOf({ fake, ...cloud }, name)),
  endsItself: true,
  shortStride: 15,
};

testComputers('a computer in a container group of Azure', GROUP_COMPUTERS);

it('a computer whose agent came to its end leaves a group that runs no more, and the next server removes it', async () => {
  const world = await openSliceWorld(GROUP_COMPUTERS);
  const { clock, cloud, server } = world;
  const { all } = containersIn(cloud.fake);
  const computers = (): Computers => world.life.features.public.computers as Computers;
  await computers().create({ name: 'dev', ...GROUP_COMPUTERS.request(0), ttlMs: 10 * MINUTE_MS }, callerAt());
  await clock.advance(2 * MINUTE_MS);
  server.end(undefined);
  await clock.advance(HOUR_MS);
  const left = all.map((one) => [stateOf(one, clock.now()), one.exitCode, one.starts]);
  await server.start();
  await clock.advance(2 * MINUTE_MS);

  expect(left).toEqual([['Terminated', 0, 1]]);
  expect(computers().find('dev')).toBeUndefined();
  expect(groupsIn(containersIn(cloud.fake), clock.now())).toEqual([]);
});
