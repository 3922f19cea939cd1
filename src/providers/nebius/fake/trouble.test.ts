import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { poolSubject } from '#core/reason.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import type { FakeNebius } from './cloud.ts';
import { H200, NEBIUS_SLICE } from './testing.ts';

const { config } = NEBIUS_SLICE.backend;
const OTHER = 'gpu-h100-sxm';

/** A pool with two platforms to choose from. */
const twoPlatforms = (): string =>
  JSON.stringify({
    name: 'gpu-pool',
    auto_scaler: {
      backends: [config, { ...config, platform: OTHER }].map((one) => ({ nebius_launch_template: one })),
      max_agents: 3,
      min_idle_agents: 1,
    },
  });

const fakeOf = ({ cloud }: SliceWorld): FakeNebius => cloud.fake as FakeNebius;

function platformsAsked(fake: FakeNebius): unknown[] {
  const bodies = fake.calls.filter(({ action }) => action === 'create').map(({ body }) => body);
  return bodies.map(({ spec }) => (spec as { resources: { platform: string } }).resources.platform);
}

async function openTwoPlatforms(prepare: (fake: FakeNebius) => void) {
  const world = await openSliceWorld(NEBIUS_SLICE);
  const fake = fakeOf(world);
  prepare(fake);
  world.documents.write('pools', 'gpu-pool', twoPlatforms());
  for (let waited = 0; platformsAsked(fake).length === 0 && waited < 300; waited++) await world.clock.advance(100);
  return { world, fake };
}

describe('the next backend is asked', () => {
  it.each(['NotEnoughResources', 'QuotaFailure'])('within a second of a call that fails by %s', async (code) => {
    const { world, fake } = await openTwoPlatforms(
      ({ failureRules }) => void failureRules.add({ action: 'create', what: { kind: 'error', code } }),
    );
    await world.clock.advance(SECOND_MS);

    expect(platformsAsked(fake)).toEqual([H200.platform, OTHER]);
    expect(world.machines()).toHaveLength(1);
  });

  it('within a second of the look that finds the operation failed', async () => {
    const { world, fake } = await openTwoPlatforms(({ stock }) => void stock.set(H200.platform, 0));
    // The fake fails it after 1.5 seconds; operations are looked at every second.
    await world.clock.advance(3 * SECOND_MS);

    expect(platformsAsked(fake)).toEqual([H200.platform, OTHER]);
    expect(world.machines()).toHaveLength(1);
  });
});

it.each([
  ['a quota', (fake: FakeNebius) => (fake.quota = 0), 'quota', 'compute.instance.count: 3 of 2', 'Raise the quota of'],
  [
    'an empty stock',
    (fake: FakeNebius) => fake.stock.set(H200.platform, 0),
    'exhausted',
    'not enough resources',
    'Wait, or',
  ],
])('%s is one line of `pool show`, with the cause and the remedy', async (_what, spoil, kind, cause, remedy) => {
  const world = await openSliceWorld(NEBIUS_SLICE);
  spoil(fakeOf(world));
  world.documents.write('pools', 'gpu-pool', documentOf(NEBIUS_SLICE, 'gpu-pool'));
  await world.clock.advance(MINUTE_MS);
  const pool = world.poolId('gpu-pool') ?? '';
  const { workers, journal } = world.life;

  const said = [
    workers.trouble(pool)?.message,
    workers.plan(pool).why,
    journal.lastDecision(poolSubject(pool))?.decision.why,
  ];
  for (const line of said) {
    expect(line).toContain(`${kind}: `);
    expect(line).toContain(cause);
    expect(line).toContain(remedy);
    expect(line).not.toContain('\n');
  }
});

it('an instance that Nebius stopped is deleted, another comes in its place, and its session runs again', async () => {
  const world = await openSliceWorld(NEBIUS_SLICE);
  const fake = fakeOf(world);
  world.documents.write('pools', 'gpu-pool', documentOf(NEBIUS_SLICE, 'gpu-pool', { backend: { preemptible: true } }));
  await world.clock.advance(2 * MINUTE_MS);
  await world.life.submit('gpu-pool', 1, 10 * MINUTE_MS);
  await world.clock.advance(MINUTE_MS);
  const [busy] = fake.instances;
  if (busy) fake.preempt(busy);
  await world.clock.advance(40 * MINUTE_MS);

  expect(busy?.timeline.at(-1)?.state).toBe('gone');
  expect([...world.agents.runs.values()]).toEqual([2]);
  expect(world.life.store.view.sessions.size).toBe(0);
});

describe('max_disk_pool_size', () => {
  async function openParking() {
    const world = await openSliceWorld(NEBIUS_SLICE);
    const more = { backend: { max_disk_pool_size: 1 }, scaler: { min_idle_agents: 0, idle_decay: '15s' } };
    world.documents.write('pools', 'gpu-pool', documentOf(NEBIUS_SLICE, 'gpu-pool', more));
    await world.clock.advance(MINUTE_MS);
    const run = async (): Promise<void> => {
      await world.life.submit('gpu-pool', 1, 20 * SECOND_MS);
      await world.clock.advance(5 * MINUTE_MS);
    };
    await run();
    return { world, fake: fakeOf(world), run };
  }

  it('stops an idle instance in place of deleting it, and the next session runs on it again', async () => {
    const { fake, run } = await openParking();
    const parked = fake.instances.map(({ timeline }) => timeline.at(-1)?.state);
    await run();

    expect(parked).toEqual(['STOPPED']);
    expect(fake.instances).toHaveLength(1);
    expect([fake.countOf('start'), fake.countOf('stop'), fake.countOf('create')]).toEqual([1, 2, 1]);
  });

  it('makes another where there is no room to start it again, though only the operation says so', async () => {
    const { world, fake } = await openParking();
    fake.stock.set(H200.platform, 0);
    await world.life.submit('gpu-pool', 1, 20 * SECOND_MS);
    await world.clock.advance(30 * SECOND_MS);
    fake.stock.set(H200.platform, 5);
    await world.clock.advance(5 * MINUTE_MS);

    expect([...world.agents.runs.values()]).toEqual([1, 1]);
    expect(world.life.store.view.sessions.size).toBe(0);
  });
});
