import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Offer, UpdatePolicy } from '#core/pool.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const NEW: Offer = { id: 'shape2', kind: 'sim', config: { size: 2 } };

const shapes = (world: PoolWorld): string[] => world.cloud.machines().map(({ launch }) => launch?.mark.shape ?? '');

describe('workers of an older definition', () => {
  async function changed(updatePolicy: UpdatePolicy, busyMs: number) {
    const limits = { minIdleSlots: 2, maxIdleSlots: 2, maxAgents: 10 };
    const world = await openPoolWorld({ pools: [aPool(limits, { updatePolicy })] });
    await world.advance(MINUTE_MS);
    if (busyMs > 0) await world.life.submit('gpu', 1, busyMs);
    await world.advance(MINUTE_MS);
    await world.set(aPool(limits, { updatePolicy, offers: [NEW] }, { revision: 2 }));
    return world;
  }

  it('stay where the pool keeps them', async () => {
    const world = await changed('keep', 0);

    await world.advance(60 * MINUTE_MS);

    expect(shapes(world)).toEqual(['shape1', 'shape1']);
  });

  it.each(['replace_idle', 'rolling'] as const)('are replaced when they idle, by %s', async (policy) => {
    const world = await changed(policy, 0);

    await world.advance(10 * MINUTE_MS);

    expect(shapes(world)).toEqual(['shape2', 'shape2']);
    expect(world.phases()).toBe('2 idle');
  });

  it.each(['replace_idle', 'rolling'] as const)('finish their sessions before they go, by %s', async (policy) => {
    const world = await changed(policy, 30 * MINUTE_MS);

    await world.advance(10 * MINUTE_MS);
    const meanwhile = shapes(world).filter((shape) => shape === 'shape1');
    await world.advance(40 * MINUTE_MS);

    expect(meanwhile).toHaveLength(1);
    expect(shapes(world)).not.toContain('shape1');
    expect(world.agents.kills).toEqual([]);
    expect([...world.agents.runs.values()]).toEqual([1]);
  });

  it.each(['replace_idle', 'rolling'] as const)('are replaced though a launch failed once, by %s', async (policy) => {
    const world = await changed(policy, 0);
    const refusal = { is: 'refused', fault: new Fault('exhausted', 'none left') } as const;
    let refused = 0;
    world.cloud.script = ({ name }) => (name === 'create' && refused++ === 0 ? refusal : undefined);

    await world.advance(180 * MINUTE_MS);

    expect(refused).toBeGreaterThan(1);
    expect(shapes(world)).toEqual(['shape2', 'shape2']);
  });

  it('take no new sessions where all are replaced step by step', async () => {
    const world = await changed('rolling', 30 * MINUTE_MS);
    await world.advance(5 * MINUTE_MS);

    const draining = [...world.life.store.view.workers.all()].filter(({ drain }) => drain);

    expect(draining).toMatchObject([{ offer: 'shape1', drain: { why: expect.stringContaining('older definition') } }]);
    expect(draining[0]?.drain?.deadlineAt).toBeUndefined();
  });

  it('stay while machines of the new one do not join, and are replaced once they do, step by step', async () => {
    const limits = { minIdleSlots: 2, maxIdleSlots: 2, maxAgents: 10, bootTimeoutMs: 5 * MINUTE_MS };
    let doesWork = false;
    const world = await openPoolWorld({
      pools: [aPool(limits, { updatePolicy: 'rolling' })],
      doesBoot: ({ launch }) => doesWork || launch?.mark.shape === 'shape1',
    });
    await world.advance(2 * MINUTE_MS);

    await world.set(aPool(limits, { updatePolicy: 'rolling', offers: [NEW] }, { revision: 2 }));
    await world.advance(120 * MINUTE_MS);
    const meanwhile = world.life.workers.plan('id-gpu').figures.idle;
    doesWork = true;
    await world.advance(60 * MINUTE_MS);

    expect(meanwhile).toBe(2);
    expect(shapes(world)).toEqual(['shape2', 'shape2']);
  });

  it('stay where the new ones would cost more than the pool may', async () => {
    const limits = { minIdleSlots: 3, maxIdleSlots: 3, maxAgents: 10, maxPricePerHour: 4 };
    const world = await openPoolWorld({ pools: [aPool(limits, { updatePolicy: 'rolling' })] });
    await world.advance(2 * MINUTE_MS);

    const terms = { shape2: { pricePerHour: 5 } };
    await world.set(aPool(limits, { updatePolicy: 'rolling', offers: [NEW], terms }, { revision: 2 }));
    await world.advance(60 * MINUTE_MS);

    expect(world.phases()).toBe('3 idle');
    expect(world.life.workers.plan('id-gpu').why).toContain('older definition stay');
  });

  it('stay while the new definition does not work', async () => {
    const limits = { minIdleSlots: 3, maxIdleSlots: 3, maxAgents: 10, bootTimeoutMs: 2 * MINUTE_MS };
    const world = await openPoolWorld({
      pools: [aPool(limits)],
      doesBoot: ({ launch }) => launch?.mark.shape === 'shape1',
    });
    await world.advance(2 * MINUTE_MS);

    await world.set(aPool(limits, { offers: [NEW] }, { revision: 2 }));
    await world.advance(240 * MINUTE_MS);

    expect(world.phases()).toContain('2 idle');
    expect(shapes(world).filter((shape) => shape === 'shape1')).toHaveLength(2);
  });
});

describe('several offers', () => {
  const limits = { maxAgents: 10, minIdleSlots: 2, maxIdleSlots: 2 };

  it('are tried in their order: the next one within a second of a refusal', async () => {
    const world = await openPoolWorld({
      pools: [aPool(limits, { offers: [{ id: 'shape1', kind: 'sim', config: {} }, NEW] })],
    });
    world.cloud.script = ({ name, nth }) =>
      name === 'create' && nth === 1 ? { is: 'refused', fault: new Fault('exhausted', 'no stock') } : undefined;

    await world.advance(2 * SECOND_MS);

    expect(shapes(world)).toEqual(['shape2', 'shape2']);
  });

  it('never cost more together than the pool may, however many are asked for at once', async () => {
    const terms = { shape1: { pricePerHour: 3 }, shape2: { pricePerHour: 1 } };
    const pool = aPool(
      { ...limits, maxPricePerHour: 8 },
      { offers: [{ id: 'shape1', kind: 'sim', config: {} }, NEW], terms },
    );
    const world = await openPoolWorld({ pools: [pool] });
    await world.life.submit('gpu', 9, 10 * MINUTE_MS);
    let most = 0;

    for (let second = 0; second < 300; second++) {
      await world.advance(SECOND_MS);
      most = Math.max(
        most,
        shapes(world).reduce((sum, shape) => sum + (shape === 'shape1' ? 3 : 1), 0),
      );
    }

    expect(most).toBe(8);
    expect(shapes(world).toSorted()).toEqual(['shape1', 'shape1', 'shape2', 'shape2']);
  });

  it('shrink by the dearest first', async () => {
    const terms = { shape1: { pricePerHour: 1, maxAgents: 1 }, shape2: { pricePerHour: 3 } };
    const pool = aPool(
      { maxAgents: 10, maxIdleSlots: 1 },
      { offers: [{ id: 'shape1', kind: 'sim', config: {} }, NEW], terms },
    );
    const world = await openPoolWorld({ pools: [pool] });
    await world.life.submit('gpu', 2, 5 * MINUTE_MS);
    await world.advance(2 * MINUTE_MS);
    const busy = shapes(world).toSorted();

    await world.advance(3 * MINUTE_MS + 50 * SECOND_MS);

    expect(busy).toEqual(['shape1', 'shape2']);
    expect(shapes(world)).toEqual(['shape1']);
  });
});

describe('an offer that comes to something else', () => {
  it('has its idle workers replaced, and those that cannot tell are left alone', async () => {
    let form = 'image-1';
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 2, maxIdleSlots: 2, maxAgents: 10 })],
      cloud: { form: () => form },
    });
    await world.advance(5 * MINUTE_MS);
    const before = shapes(world);
    const names = world.cloud.machines().map(({ name }) => name);

    await world.advance(5 * MINUTE_MS);
    const kept = world.cloud.machines().map(({ name }) => name);
    form = 'image-2';
    await world.advance(10 * MINUTE_MS);

    expect(kept).toEqual(names);
    const all = [...before, ...shapes(world)];
    expect([new Set(before).size, new Set(shapes(world)).size, new Set(all).size]).toEqual([1, 1, 2]);
    expect(all.every((shape) => /^shape1-[0-9a-f]{8}$/.test(shape))).toBe(true);
    expect(world.phases()).toBe('2 idle');
  });
});
