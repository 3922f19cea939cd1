import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Machine, Mark } from '#core/provider.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const MARK: Mark = { cluster: 'cluster1', use: 'worker', owner: 'id-gpu', shape: 'shape1' };
const orphan = (name: string): Machine => ({ name, mark: MARK, createdAt: 0, state: 'running' });
const there = (world: PoolWorld) => world.cloud.machines().map((made) => made.machine.name);

describe('a machine with the mark of a pool and without a row', () => {
  it('is deleted once it has been there for kill_unknown_after of its pool, and an event says so before', async () => {
    const world = await openPoolWorld({ pools: [aPool({ killUnknownAfterMs: 5 * MINUTE_MS })] });
    await world.advance(SECOND_MS);
    world.cloud.add(orphan('m-old'));

    await world.advance(6 * MINUTE_MS);
    const before = there(world);
    await world.advance(2 * MINUTE_MS);

    expect([before, there(world)]).toEqual([['m-old'], []]);
    expect(world.disk.histories.events.filter(({ kind }) => kind.startsWith('machine.'))).toMatchObject([
      {
        kind: 'machine.orphaned',
        subject: 'machine/m-old',
        message: 'The machine has the tags of this cluster and no record. Its pool deletes it after 5m.',
      },
      { kind: 'machine.swept', subject: 'machine/m-old' },
    ]);
  });

  it('stays for ever where kill_unknown_after of its pool is 0, does not count in the pool, and an event says so', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minAgents: 1, maxAgents: 1, killUnknownAfterMs: 0 })] });
    world.cloud.add(orphan('m-old'));

    for (let hour = 0; hour < 3; hour += 1) await world.advance(60 * MINUTE_MS);

    expect(there(world)).toContain('m-old');
    expect(world.phases()).toBe('1 idle');
    expect(world.disk.histories.events.filter(({ kind }) => kind === 'machine.orphaned')).toMatchObject([
      { message: 'The machine has the tags of this cluster and no record. Its pool lets it stay.' },
    ]);
  });

  it('is deleted by a changed kill_unknown_after as soon as that is over', async () => {
    const world = await openPoolWorld({ pools: [aPool({ killUnknownAfterMs: 0 })] });
    world.cloud.add(orphan('m-old'));
    await world.advance(10 * MINUTE_MS);

    await world.set(aPool({ killUnknownAfterMs: 5 * MINUTE_MS }, {}, { revision: 2 }));
    await world.advance(2 * MINUTE_MS);

    expect(there(world)).toEqual([]);
  });

  it('gets the whole of kill_unknown_after again from a server that starts', async () => {
    const world = await openPoolWorld({ pools: [aPool({ killUnknownAfterMs: 5 * MINUTE_MS })] });
    world.cloud.add(orphan('m-old'));
    await world.advance(4 * MINUTE_MS);

    world.crash();
    await world.start();
    await world.advance(4 * MINUTE_MS);
    const before = there(world);
    await world.advance(4 * MINUTE_MS);

    expect([before, there(world)]).toEqual([['m-old'], []]);
  });

  it('is deleted after two listings where its row was dropped, also by a server that has just started', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minAgents: 1, maxAgents: 1, killUnknownAfterMs: 0 })] });
    await world.advance(2 * MINUTE_MS);
    const [dropped = ''] = there(world);
    await world.set(aPool({ minAgents: 0, maxAgents: 0, maxIdleSlots: 0 }, {}, { revision: 2 }));
    await world.advance(5 * MINUTE_MS);
    expect([there(world), world.phases()]).toEqual([[], 'none']);

    world.cloud.add(orphan(dropped));
    await world.advance(3 * MINUTE_MS);
    const again = there(world);
    world.crash();
    world.cloud.add(orphan(dropped));
    await world.start();
    await world.advance(3 * MINUTE_MS);

    expect([again, there(world)]).toEqual([[], []]);
  });

  it('is deleted when its pool is removed, although nobody lists its cloud after that', async () => {
    const world = await openPoolWorld({ pools: [aPool({ killUnknownAfterMs: 0 })] });
    world.cloud.add(orphan('m-old'));
    await world.advance(5 * MINUTE_MS);

    const removal = { at: world.clock.now(), deadlineAt: world.clock.now(), why: 'test' };
    await world.set(aPool({ killUnknownAfterMs: 0 }, {}, { revision: 2, removal }));
    await world.advance(3 * MINUTE_MS);

    expect(there(world)).toEqual([]);
  });
});
