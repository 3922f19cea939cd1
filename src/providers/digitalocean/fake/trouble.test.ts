import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { poolSubject } from '#core/reason.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import type { FakeDigitalOcean } from './cloud.ts';
import { DROPLET_SLICE, GPU } from './testing.ts';

const { config } = DROPLET_SLICE.backend;
const SECOND_CHOICE = 'gpu-mi300x8-1536gb-devcloud';

/** A pool with two sizes to choose from. */
const twoSizes = (): string =>
  JSON.stringify({
    name: 'gpu-pool',
    auto_scaler: {
      backends: [config, { ...config, size: SECOND_CHOICE }].map((one) => ({ digitalocean_droplet: one })),
      max_agents: 3,
      min_idle_agents: 1,
    },
  });

const fakeOf = ({ cloud }: SliceWorld): FakeDigitalOcean => cloud.fake as FakeDigitalOcean;

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

describe('a size that cannot be had', () => {
  it.each([
    ['has no stock', (fake: FakeDigitalOcean) => void fake.stock.set(GPU.size, 0)],
    [
      'is over the limit',
      (fake: FakeDigitalOcean) =>
        void fake.failureRules.add({
          action: 'create',
          when: ({ body }) => body.size === GPU.size,
          times: 1e9,
          what: {
            kind: 'error',
            code: 'unprocessable_entity',
            message: 'creating this/these droplet(s) will exceed your droplet limit',
            status: 422,
          },
        }),
    ],
  ])('because it %s is followed by the next backend within a second', async (_why, prepare) => {
    const world = await openSliceWorld(DROPLET_SLICE);
    prepare(fakeOf(world));
    world.documents.write('pools', 'gpu-pool', twoSizes());
    const creations = () => fakeOf(world).calls.filter(({ action }) => action === 'create');
    for (let waited = 0; creations().length === 0 && waited < 300; waited++) await world.clock.advance(100);
    await world.clock.advance(SECOND_MS);

    expect(creations().map(({ body }) => body.size)).toEqual([GPU.size, SECOND_CHOICE]);
    expect(fakeOf(world).droplets.map(({ size }) => size)).toEqual([SECOND_CHOICE]);
  });

  it('after DigitalOcean had agreed is followed by the next backend within a second of the look that shows it', async () => {
    const world = await openSliceWorld(DROPLET_SLICE);
    const fake = fakeOf(world);
    fake.refuseLate(1);
    world.documents.write('pools', 'gpu-pool', twoSizes());
    const creations = () => fake.calls.filter(({ action }) => action === 'create');
    for (let waited = 0; creations().length < 2 && waited < 600; waited++) await world.clock.advance(100);
    const [first, second] = creations();
    const looks = fake.calls.filter(({ action, atMs }) => action === 'actions' && atMs <= (second?.atMs ?? 0));

    expect([first, second].map((call) => call?.body.size)).toEqual([GPU.size, SECOND_CHOICE]);
    expect((second?.atMs ?? 0) - (looks.at(-1)?.atMs ?? 0)).toBeLessThanOrEqual(SECOND_MS);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeLessThanOrEqual(10 * SECOND_MS);
  });

  it.each([
    [
      'stock',
      (fake: FakeDigitalOcean) => void fake.stock.set(GPU.size, 0),
      [
        'exhausted: POST /droplets of DigitalOcean',
        'Size is not available in this region.',
        'Wait, or offer another size or region.',
      ],
    ],
    [
      'limit',
      (fake: FakeDigitalOcean) => {
        fake.limit = 0;
      },
      [
        'quota: POST /droplets of DigitalOcean',
        'will exceed your droplet limit',
        'Ask DigitalOcean to raise the droplet limit of the account, or lower max_agents.',
      ],
    ],
  ])('for want of %s says why and what to do in one line', async (_what, prepare, parts) => {
    const world = await openSliceWorld(DROPLET_SLICE);
    prepare(fakeOf(world));
    world.documents.write('pools', 'gpu-pool', documentOf(DROPLET_SLICE, 'gpu-pool'));
    await world.clock.advance(MINUTE_MS);

    for (const line of saidOf(world)) {
      for (const part of parts) expect(line).toContain(part);
      expect(line).not.toContain('\n');
    }
  });
});

it('a creation whose reply is lost is not repeated while listings are late by 50 seconds: one droplet is made', async () => {
  const world = await openSliceWorld(DROPLET_SLICE, { lagMs: 50 * SECOND_MS, bootMs: 2 * MINUTE_MS });
  const fake = fakeOf(world);
  fake.failureRules.add({ action: 'create', what: { kind: 'lost reply' } });
  world.documents.write('pools', 'gpu-pool', documentOf(DROPLET_SLICE, 'gpu-pool'));
  await world.clock.advance(5 * MINUTE_MS);

  expect(fake.countOf('create')).toBe(1);
  expect(fake.droplets).toHaveLength(1);
  expect(world.machines()).toHaveLength(1);
});
