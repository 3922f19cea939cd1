import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { poolSubject } from '#core/reason.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import type { Compute } from '../compute/compute.ts';
import type { FakeAzure } from '../fake-azure.ts';
import { GPU, remainsIn } from '../testing.ts';
import { VM_SLICE } from './testing.ts';

const PUT = 'management.vmPut';
const SECOND_CHOICE = 'Standard_NC24ads_A100_v4';
const fakeOf = ({ cloud }: SliceWorld): FakeAzure => cloud.fake as FakeAzure;
const computeOf = (world: SliceWorld): Compute => fakeOf(world).world.compute;

/** A pool with two sizes to choose from. */
const twoSizes = (): string =>
  JSON.stringify({
    name: 'gpu-pool',
    auto_scaler: {
      backends: [GPU, { ...GPU, vm_size: SECOND_CHOICE }].map((one) => ({ azure_vm: one })),
      max_agents: 3,
      min_idle_agents: 1,
    },
  });

/** What `pool show`, `pool plan` and `pool why` say of it, each in one line. */
function saidOf({ life, poolId }: SliceWorld): (string | undefined)[] {
  const pool = poolId('gpu-pool') ?? '';
  const { workers, journal } = life;
  return [
    workers.trouble(pool)?.message,
    workers.plan(pool).why,
    journal.lastDecision(poolSubject(pool))?.decision.why,
  ];
}

const refuse = (code: string, message: string) => (world: SliceWorld) =>
  void fakeOf(world).failureRules.add({
    action: PUT,
    when: ({ body }) => JSON.stringify(body).includes(`"${GPU.vm_size}"`),
    times: 1e9,
    what: { kind: 'error', code, message, status: 409 },
  });

describe('a size that cannot be had', () => {
  it.each([
    ['SkuNotAvailable', (world: SliceWorld) => void computeOf(world).stock.set(GPU.vm_size, 0)],
    ['AllocationFailed', refuse('AllocationFailed', 'No capacity.')],
    ['QuotaExceeded', refuse('OperationNotAllowed', 'It results in exceeding approved Cores quota.')],
  ])('(%s) is followed by the next backend within a second', async (_why, prepare) => {
    const world = await openSliceWorld(VM_SLICE);
    prepare(world);
    world.documents.write('pools', 'gpu-pool', twoSizes());
    const sizes = () => fakeOf(world).calls.flatMap(({ action, size }) => (action === PUT ? [size] : []));
    for (let waited = 0; sizes().length === 0 && waited < 300; waited++) await world.clock.advance(100);
    await world.clock.advance(SECOND_MS);

    expect(sizes()).toEqual([GPU.vm_size, SECOND_CHOICE]);
    expect(computeOf(world).vms.map(({ size }) => size)).toEqual([SECOND_CHOICE]);
  });

  it('that only the operation tells of is followed by the next backend within a second of that look', async () => {
    const world = await openSliceWorld(VM_SLICE);
    computeOf(world).settings.late = 1;
    world.documents.write('pools', 'gpu-pool', twoSizes());
    const times = (action: string) =>
      fakeOf(world).calls.flatMap((call) => (call.action === action ? [call.atMs] : []));
    await world.clock.advance(MINUTE_MS);
    const [first = Number.NaN, second = Number.NaN] = times(PUT);
    const looked = times('management.operation').findLast((atMs) => atMs <= second) ?? Number.NaN;

    expect(second - looked).toBeLessThanOrEqual(SECOND_MS);
    // The fake fails it after 3 seconds; young operations are checked every second.
    expect(second - first).toBeLessThanOrEqual(5 * SECOND_MS);
    expect(computeOf(world).vms.map(({ size }) => size)).toEqual([GPU.vm_size, SECOND_CHOICE]);
  });

  it.each([
    [
      'stock',
      (world: SliceWorld) => void computeOf(world).stock.set(GPU.vm_size, 0),
      ['exhausted: PUT /resourceGroups/velda/', 'SkuNotAvailable', 'Wait, or offer another size, zone or location.'],
    ],
    [
      'quota',
      (world: SliceWorld) => {
        computeOf(world).settings.cores = 0;
      },
      ['quota: PUT /resourceGroups/velda/', 'Total Regional Cores', 'Raise the vCPU quota of this size family'],
    ],
    [
      'a right',
      (world: SliceWorld) => void fakeOf(world).world.denied.add('Microsoft.Compute/virtualMachines/write'),
      [
        'denied: PUT /resourceGroups/velda/',
        'AuthorizationFailed',
        'the rights that the page of the provider azure lists',
      ],
    ],
  ])('for want of %s says why and what to do in one line', async (_what, prepare, parts) => {
    const world = await openSliceWorld(VM_SLICE);
    prepare(world);
    world.documents.write('pools', 'gpu-pool', documentOf(VM_SLICE, 'gpu-pool'));
    await world.clock.advance(MINUTE_MS);

    for (const line of saidOf(world)) {
      for (const part of parts) expect(line).toContain(part);
      expect(line).not.toContain('\n');
    }
  });
});

it('parts that a machine leaves behind are gone half an hour later', async () => {
  const world = await openSliceWorld(VM_SLICE);
  computeOf(world).settings.strands = 1;
  world.documents.write('pools', 'gpu-pool', documentOf(VM_SLICE, 'gpu-pool'));
  world.documents.write('pools', 'other', documentOf(VM_SLICE, 'other'));
  await world.clock.advance(2 * MINUTE_MS);
  world.documents.erase('pools', 'gpu-pool');
  await world.clock.advance(2 * MINUTE_MS);
  const stranded = remainsIn(computeOf(world)).length;
  await world.clock.advance(30 * MINUTE_MS);

  // The other pool has a machine with three parts all the time.
  expect([stranded, remainsIn(computeOf(world)).length]).toEqual([7, 4]);
});
