import { expect, it } from 'vitest';
import { publishedLimits } from '../../providers/aws/fake/limits.ts';
import { putParameter } from '../../providers/aws/parameters/testing.ts';
import { documentOf, keyOf } from './documents.ts';
import { type AwsWorld, openAwsWorld } from './world.ts';

const MINUTE_MS = 60_000;

async function openScene(mostAgents: number): Promise<{ readonly world: AwsWorld; readonly pool: string }> {
  const behaviour = { largestPage: 1_000 };
  const world = await openAwsWorld(undefined, { limits: publishedLimits, behaviour });
  const scaler = { max_agents: mostAgents, min_idle_agents: 0, max_idle_agents: 0, idle_decay: '0s' };
  putParameter(world.fake, keyOf('gpu-pool'), documentOf('gpu-pool', { scaler }));
  await world.clock.advance(MINUTE_MS);
  return { world, pool: world.poolId('gpu-pool') ?? '' };
}

const refusedBy = ({ fake }: AwsWorld) => fake.calls.filter(({ outcome }) => outcome !== 'ok');

it('asks for a thousand workers by one call, within the limits of EC2, and accounts for each', async () => {
  const { world, pool } = await openScene(1_000);

  await world.life.sessions.submit(pool, 1_000, MINUTE_MS);
  await world.clock.advance(MINUTE_MS / 2);
  const { view } = world.life.store;
  const made = { machines: world.instances().length, workers: view.workers.size, launches: view.launches.size };
  const joined = [...view.workers.all()].filter(({ joinedAt }) => joinedAt !== undefined).length;
  const launchCalls = world.fake.countOf('RunInstances');
  await world.clock.advance(2 * MINUTE_MS);

  expect(launchCalls).toBe(1);
  expect(made).toEqual({ machines: 1_000, workers: 1_000, launches: 0 });
  expect(joined).toBe(1_000);
  expect([...world.agents.runs.values()].filter((times) => times === 1)).toHaveLength(1_000);
  expect([world.instances().length, view.workers.size]).toEqual([0, 0]);
  expect(world.fake.countOf('RunInstances')).toBe(1);
  expect(world.fake.countOf('TerminateInstances')).toBeLessThanOrEqual(20);
  expect(refusedBy(world)).toEqual([]);
}, 20_000);

it('asks for more than EC2 starts at once as fast as EC2 lets it, and is never refused', async () => {
  const { world, pool } = await openScene(1_020);

  await world.life.sessions.submit(pool, 1_020, 10 * MINUTE_MS);
  // Two machines a second come back into the bucket of a thousand.
  await world.clock.advance(15_000);

  const { view } = world.life.store;
  expect([world.instances().length, view.workers.size, view.launches.size]).toEqual([1_020, 1_020, 0]);
  expect(refusedBy(world)).toEqual([]);
}, 20_000);
