import { expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { poolSubject } from '#core/reason.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld } from '#sim/slice/world.ts';
import type { FakeMithril } from './cloud.ts';
import { MITHRIL_SLICE } from './testing.ts';

const { config } = MITHRIL_SLICE.backend;

/** A pool with two types to choose from. */
const twoTypes = (): string =>
  JSON.stringify({
    name: 'gpu-pool',
    auto_scaler: {
      backends: [config, { ...config, instance_type: '8xa100' }].map((one) => ({ mithril_spot_bid: one })),
      max_agents: 3,
      min_idle_agents: 1,
    },
  });

async function openTwoTypes(prepare: (fake: FakeMithril) => void) {
  const world = await openSliceWorld(MITHRIL_SLICE);
  const fake = world.cloud.fake as FakeMithril;
  prepare(fake);
  world.documents.write('pools', 'gpu-pool', twoTypes());
  const typesAsked = () => fake.calls.filter(({ action }) => action === 'create').map(({ body }) => body.instance_type);
  for (let waited = 0; typesAsked().length === 0 && waited < 300; waited++) await world.clock.advance(100);
  return { world, fake, typesAsked };
}

it.each([
  ['capacity', 'Insufficient capacity in this region'],
  ['quota', 'Quota exceeded for spot instances in this project'],
])('a bid that is refused for want of %s is followed by the next backend within a second', async (_what, message) => {
  const { world, typesAsked } = await openTwoTypes(
    (fake) =>
      void fake.failureRules.add({
        action: 'create',
        what: { kind: 'error', code: 'bad_request', message, status: 400 },
      }),
  );
  await world.clock.advance(SECOND_MS);

  expect(typesAsked()).toEqual(['it_8xh1001', 'it_8xa1001']);
  expect(world.machines()).toHaveLength(1);
});

it('a bid that stays open past allocation_timeout is ended, and the next backend is asked', async () => {
  const { world, fake, typesAsked } = await openTwoTypes((fake) => fake.refuseLate(1));
  await world.clock.advance(3 * MINUTE_MS);

  expect(typesAsked()).toEqual(['it_8xh1001', 'it_8xa1001']);
  expect(fake.bids.map((bid) => bid.timeline.at(-1)?.state)).toEqual(['Terminated', 'running']);
});

it('a bid whose reply is lost is not repeated while listings are late by 50 seconds: one bid is made', async () => {
  const world = await openSliceWorld(MITHRIL_SLICE, { lagMs: 50 * SECOND_MS, bootMs: 2 * MINUTE_MS });
  const fake = world.cloud.fake as FakeMithril;
  fake.failureRules.add({ action: 'create', what: { kind: 'lost reply' } });
  world.documents.write('pools', 'gpu-pool', documentOf(MITHRIL_SLICE, 'gpu-pool'));
  await world.clock.advance(5 * MINUTE_MS);

  expect(fake.bids).toHaveLength(1);
  expect(world.machines()).toHaveLength(1);
});

it('a refusal is one line of `pool show`, with the remedy', async () => {
  const world = await openSliceWorld(MITHRIL_SLICE);
  (world.cloud.fake as FakeMithril).quota = 0;
  world.documents.write('pools', 'gpu-pool', documentOf(MITHRIL_SLICE, 'gpu-pool'));
  await world.clock.advance(MINUTE_MS);
  const pool = world.poolId('gpu-pool') ?? '';
  const { workers, journal } = world.life;

  const said = [
    workers.trouble(pool)?.message,
    workers.plan(pool).why,
    journal.lastDecision(poolSubject(pool))?.decision.why,
  ];
  for (const line of said) {
    expect(line).toContain('quota: POST /spot/bids of Mithril');
    expect(line).toContain('Ask Mithril to raise the quota of the project, or lower max_agents.');
    expect(line).not.toContain('\n');
  }
});
