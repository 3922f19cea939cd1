import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Computers } from '#core/computer.ts';
import type { SliceCloud } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import { testComputers } from '../../../../conformance/computers.ts';
import { type ComputerSuite, callerAt } from '../../../../conformance/computers-world.ts';
import type { Compute } from '../compute/compute.ts';
import type { FakeVm } from '../compute/machine.ts';
import type { FakeAzure } from '../fake-azure.ts';
import { remainsIn, SUBSCRIPTION } from '../testing.ts';
import { VM_SLICE } from './testing.ts';

const computeOf = (cloud: SliceCloud): Compute => (cloud.fake as FakeAzure).world.compute;
const error = (code: string, status: number, message = code) => ({ kind: 'error', code, message, status }) as const;

function vmOf(cloud: SliceCloud, name: string): FakeVm {
  const vm = computeOf(cloud).vms.find((one) => one.name === name);
  if (!vm) throw new Error(`There is no machine ${name}.`);
  return vm;
}

// Its users name no network: each machine gets one of its own.
const AZURE_COMPUTERS: ComputerSuite = {
  ...VM_SLICE,
  request: () => ({ platform: 'azure', options: { subscription_id: SUBSCRIPTION, image_id: 'standard' } }),
  held: (cloud) => remainsIn(computeOf(cloud)),
  shown: (cloud) => [
    ...cloud.machines().flatMap((one) => one.scripts()),
    JSON.stringify(computeOf(cloud).networks.all),
    JSON.stringify(cloud.fake.calls),
  ],
  refusals: [
    ['exhausted', error('SkuNotAvailable', 409)],
    ['quota', error('OperationNotAllowed', 409, 'It results in exceeding approved Cores quota.')],
    ['denied', error('AuthorizationFailed', 403)],
  ],
  vanish: (cloud, { name }) => void computeOf(cloud).end(vmOf(cloud, name)),
  stop: (cloud, { name }) => computeOf(cloud).stop(vmOf(cloud, name)),
  // Azure bills a machine that shut itself down until somebody deletes it.
  endsItself: false,
  shortStride: 15,
};

testComputers('a computer on Azure', AZURE_COMPUTERS);

it('a computer that shut itself down is shown as stopped, and deleted at its end, by the next server if need be', async () => {
  const world = await openSliceWorld(AZURE_COMPUTERS);
  const compute = computeOf(world.cloud);
  const computers = (): Computers => world.life.features.public.computers as Computers;
  await computers().create({ name: 'dev', ...AZURE_COMPUTERS.request(0), ttlMs: HOUR_MS }, callerAt());
  await world.clock.advance(2 * MINUTE_MS);
  for (const vm of compute.vms) compute.stop(vm);
  await world.clock.advance(2 * MINUTE_MS);
  const stopped = computers().find('dev')?.status;
  world.server.end(undefined);
  await world.clock.advance(2 * HOUR_MS);
  const billed = remainsIn(compute).length;
  await world.server.start();
  await world.clock.advance(2 * MINUTE_MS);

  expect([stopped, billed]).toEqual(['stopped', 5]);
  expect([computers().find('dev'), remainsIn(compute)]).toEqual([undefined, []]);
});
