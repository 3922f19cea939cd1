import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import { type SimCloud, simKind } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';
import { type DeskMachine, startDesk } from './testing/desk.ts';

const ABOUT = { use: 'worker', owner: 'id-gpu', ownerName: 'gpu', source: 'file', offer: OFFER.id, kind: 'sim' };
const endedIn = ({ disk }: PoolWorld) => disk.histories.endedMachines;

/** A world in which one machine has been made for a pool; only a test makes it go. */
async function withMachine(options: PoolWorldOptions = {}) {
  const pool = aPool({ minAgents: 1, maxAgents: 1 }, { terms: { [OFFER.id]: { pricePerHour: 0.5 } } });
  const world = await openPoolWorld({ pools: [pool], ...options });
  await world.advance(MINUTE_MS);
  const [worker] = world.life.store.view.workers.all();
  return { world, pool, askedAt: worker?.askedAt ?? 0, name: worker?.id ?? '' };
}

describe('the history of a machine', () => {
  it('says when it was asked for, made, joined and removed, and what it cost', async () => {
    const { world, pool, askedAt, name } = await withMachine();

    await world.set({
      ...pool,
      revision: 2,
      spec: { ...pool.spec, scaling: aPool({ maxAgents: 0, idleDecayMs: 0 }).spec.scaling },
    });
    await world.advance(5 * MINUTE_MS);

    expect(world.life.store.view.workers.get(name)).toBeUndefined();
    expect(endedIn(world)).toEqual([
      {
        ...ABOUT,
        id: expect.any(String),
        machine: name,
        askedAt,
        createdAt: askedAt + 100,
        joinedAt: expect.any(Number),
        removedAt: expect.any(Number),
        endedAt: expect.any(Number),
        how: 'removed',
        prices: [{ from: askedAt, perHour: 0.5 }],
        listed: [],
      },
    ]);
    const [row] = endedIn(world);
    expect(row?.joinedAt).toBeGreaterThanOrEqual(askedAt + 20 * SECOND_MS);
    expect(row?.endedAt).toBeGreaterThanOrEqual(askedAt + MINUTE_MS);
    expect(row?.removedAt).toBeLessThan(row?.endedAt ?? 0);
  });

  it('says that its cloud no longer had it', async () => {
    const { world, name } = await withMachine();

    world.cloud.kill(name);
    await world.advance(10 * MINUTE_MS);

    expect(endedIn(world)).toMatchObject([{ ...ABOUT, machine: name, how: 'gone', joinedAt: expect.any(Number) }]);
  });

  it('says why its cloud refused it, without dates or a price that it never had', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minAgents: 1, maxAgents: 1 }, { terms: { [OFFER.id]: { pricePerHour: 0.5 } } })],
    });
    world.cloud.script = ({ name, nth }) =>
      name === 'create' && nth === 1 ? { is: 'refused', fault: new Fault('quota', 'No more of these.') } : undefined;

    await world.advance(5 * MINUTE_MS);

    const [row, ...others] = endedIn(world);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ ...ABOUT, how: 'failed', fault: { kind: 'quota', message: 'No more of these.' } });
    expect([row?.createdAt, row?.joinedAt, row?.prices]).toEqual([undefined, undefined, undefined]);
  });

  it('says what its cloud failed at after it was made', async () => {
    const { world, name } = await withMachine({ doesBoot: () => false });

    world.cloud.trouble(name, { kind: 'exhausted', message: 'No room for it.', final: true });
    await world.advance(5 * MINUTE_MS);

    expect(endedIn(world)[0]).toMatchObject({
      ...{ ...ABOUT, machine: name, how: 'failed', createdAt: expect.any(Number) },
      fault: { kind: 'exhausted', message: 'No room for it.' },
    });
  });

  it('says that its agent never joined', async () => {
    const { world, name } = await withMachine({ doesBoot: () => false });

    await world.advance(20 * MINUTE_MS);

    const [row] = endedIn(world);
    expect(row).toMatchObject({ ...ABOUT, machine: name, how: 'failed', fault: { kind: 'unavailable' } });
    expect(row?.fault?.message).toContain('join');
  });

  it('does not take a launch that was cancelled before its cloud was called for a failure', async () => {
    const ops = { who: 'ops', from: 'here' };
    const pool = aPool({ minAgents: 1 });
    const world = await openPoolWorld({ pools: [pool] });
    const stop = world.life.store.onChange('launches', (after) => {
      if (after) void world.life.workers.freeze(pool.id, 'test', ops);
    });
    await world.advance(SECOND_MS);
    stop();

    await world.set({ ...pool, removal: { at: 0, deadlineAt: world.clock.now() + MINUTE_MS, why: 'gone' } });
    await world.life.workers.thaw(pool.id, ops);
    await world.advance(MINUTE_MS);

    expect(world.cloud.made.size).toBe(0);
    expect(endedIn(world)).toMatchObject([{ ...ABOUT, how: 'removed' }]);
    expect(endedIn(world)[0]).toMatchObject({ createdAt: undefined, fault: undefined, prices: undefined });
  });

  it('leaves out workers that came by themselves: no offer of ours made them', async () => {
    const manual = aPool({ maxAgents: 0 }, { offers: [], agentAuth: 'network', agentNetworks: ['10.0.0.0/8'] });
    const world = await openPoolWorld({ pools: [manual] });
    const about = {
      slots: 1,
      labels: {},
      wire: 'velda',
      version: '1',
      hostname: '',
      address: '',
      executions: [],
    } as const;
    const agent = await world.life.machines.join(
      { name: 'desk-7', pool: 'gpu', ...about },
      { peerAddress: '10.0.0.9' },
    );

    world.life.machines.leave('desk-7', agent.epoch);
    await world.advance(20 * MINUTE_MS);

    expect(world.life.store.view.workers.size).toBe(0);
    expect(endedIn(world)).toEqual([]);
  });

  it('is kept for every use', async () => {
    const { world } = await withMachine();
    const rows = new Map<string, DeskMachine>();
    const computers = startDesk({ ...world.life, clock: world.clock }, rows);
    computers.create();
    await world.advance(2 * MINUTE_MS);
    const [name] = rows.keys();

    computers.remove();
    await world.advance(5 * MINUTE_MS);

    expect(endedIn(world)).toMatchObject([{ machine: name, use: 'computer', owner: 'id-desk', how: 'removed' }]);
  });
});

describe('the prices of a machine', () => {
  /** Its cloud asks another price each hour from then on. */
  const pricedBy = (priceOf: (hour: number) => number) => (cloud: SimCloud, isAlive: () => boolean) => ({
    sim: {
      ...simKind(cloud, isAlive),
      open: async () => ({ ...cloud.backend(isAlive), pricePerHour: async () => priceOf(hours) }),
    },
  });
  let hours = 0;

  async function ended(world: PoolWorld) {
    const [worker] = world.life.store.view.workers.all();
    const pool = aPool({ maxAgents: 0, idleDecayMs: 0 }, {}, { revision: 2 });
    await world.set(pool);
    await world.advance(5 * MINUTE_MS);
    return endedIn(world).find(({ machine }) => machine === worker?.id);
  }

  async function openPriced(priceOf: (hour: number) => number): Promise<PoolWorld> {
    hours = 0;
    const world = await openPoolWorld({ pools: [aPool({ maxAgents: 1 })], kinds: pricedBy(priceOf) });
    // Its cloud has reported the first price before the first machine is asked for.
    await world.advance(MINUTE_MS);
    await world.set(aPool({ minAgents: 1, maxAgents: 1 }, {}, { revision: 1 }));
    await world.advance(MINUTE_MS);
    return world;
  }

  async function pass(world: PoolWorld, count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      hours += 1;
      await world.advance(HOUR_MS + 2 * MINUTE_MS);
    }
  }

  it('are the one that it had all the time', async () => {
    const world = await openPriced(() => 1.25);
    await pass(world, 3);

    expect((await ended(world))?.prices).toEqual([{ from: expect.any(Number), perHour: 1.25 }]);
  });

  it('are all that its cloud asked for in turn, also across a restart', async () => {
    const world = await openPriced((hour) => [1, 1, 2, 2, 3][hour] ?? 3);
    await pass(world, 2);
    world.crash();
    await world.start();
    await pass(world, 2);

    const row = await ended(world);

    expect(row?.prices?.map(({ perHour }) => perHour)).toEqual([1, 2, 3]);
    expect(row?.prices?.map(({ from }) => from)).toEqual(row?.prices?.map(({ from }) => from).toSorted());
    expect(row?.prices?.[0]?.from).toBe(row?.askedAt);
  });
});
