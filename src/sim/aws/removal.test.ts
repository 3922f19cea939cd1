import { describe, expect, it } from 'vitest';
import { dropParameter, putParameter } from '../../providers/aws/parameters/testing.ts';
import { documentOf, keyOf } from './documents.ts';
import { type AwsWorld, openAwsWorld } from './world.ts';

const MINUTE_MS = 60_000;
const KEY = keyOf('gpu-pool');
const DOCUMENT = documentOf('gpu-pool');

/** Another pool, and one with an idle worker and a busy one whose session runs for ten minutes; its parameter is deleted. */
async function deletedWhileBusy(): Promise<{ readonly world: AwsWorld; readonly pool: string }> {
  const world = await openAwsWorld();
  putParameter(world.fake, keyOf('other'), documentOf('other'));
  putParameter(world.fake, KEY, DOCUMENT);
  await world.clock.advance(2 * MINUTE_MS);
  const pool = world.poolId('gpu-pool') ?? '';
  await world.life.sessions.submit(pool, 1, 10 * MINUTE_MS);
  await world.clock.advance(2 * MINUTE_MS);
  expect(machinesOf(world, pool)).toHaveLength(2);
  dropParameter(world.fake, KEY);
  await world.clock.advance(2 * MINUTE_MS);
  return { world, pool };
}

const machinesOf = (world: AwsWorld, pool: string): string[] =>
  world.instances().flatMap(({ tags, id }) => (tags.get('muster:pool') === pool ? [id] : []));

const endsOf = ({ agents }: AwsWorld) => ({ runs: [...agents.runs.values()], kills: agents.kills });

describe('a pool whose parameter is deleted', () => {
  it('loses its idle worker at once and its busy one when the session has ended, and is then forgotten', async () => {
    const { world, pool } = await deletedWhileBusy();
    const { view } = world.life.store;

    const draining = { removal: view.pools.get(pool)?.removal?.why, machines: machinesOf(world, pool).length };
    await world.clock.advance(10 * MINUTE_MS);

    expect(draining).toEqual({ removal: 'Source "aws:us-west-2:/velda/pools/" no longer defines it.', machines: 1 });
    expect(endsOf(world)).toEqual({ runs: [1], kills: [] });
    expect(view.sessions.size).toBe(0);
    expect(view.pools.get(pool)).toBeUndefined();
    expect([...view.pools.all()].map(({ name }) => name)).toEqual(['other']);
    expect(machinesOf(world, pool)).toEqual([]);
    expect(world.instances()).toHaveLength(1);
  });

  it('stays where the parameter returns before that: the same pool, its session, and room for more', async () => {
    const { world, pool } = await deletedWhileBusy();
    const { view } = world.life.store;
    const [busy] = machinesOf(world, pool);

    putParameter(world.fake, KEY, DOCUMENT);
    await world.clock.advance(2 * MINUTE_MS);
    const restored = { pool: view.pools.get(pool), machines: machinesOf(world, pool) };
    await world.life.sessions.submit(pool, 1, MINUTE_MS);
    await world.clock.advance(15 * MINUTE_MS);

    expect(restored.pool).toMatchObject({ name: 'gpu-pool', owner: { key: KEY } });
    expect(restored.pool?.removal).toBeUndefined();
    expect(restored.machines).toContain(busy);
    expect(restored.machines).toHaveLength(2);
    expect(endsOf(world)).toEqual({ runs: [1, 1], kills: [] });
    expect(view.sessions.size).toBe(0);
    expect(view.pools.get(pool)?.removal).toBeUndefined();
    expect(machinesOf(world, pool)).toHaveLength(1);
  });
});
