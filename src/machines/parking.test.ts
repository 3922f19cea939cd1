import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { SELF } from '#core/journal.ts';
import type { Offer } from '#core/pool.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const NEW: Offer = { id: 'shape2', kind: 'sim', config: { size: 2 } };

const states = (world: PoolWorld): string[] => world.cloud.machines().map(({ machine }) => machine.state);
const made = (world: PoolWorld): number => world.cloud.made.size;

/** A pool that has run three sessions, and now needs no worker. */
async function afterWork(park = { most: 2 } as { most: number; maxAgeMs?: number }) {
  const world = await openPoolWorld({ pools: [aPool({ maxIdleSlots: 0, idleDecayMs: 0 })], cloud: { park } });
  await world.advance(SECOND_MS);
  await world.life.submit('gpu', 3, 10 * SECOND_MS);
  await world.advance(2 * MINUTE_MS);
  return world;
}

describe('idle workers of a cloud that can keep machines', () => {
  it('are parked up to the number that is kept, and the others deleted', async () => {
    const world = await afterWork();

    expect(world.phases()).toBe('2 parked');
    expect(states(world)).toEqual(['suspended', 'suspended']);
  });

  it('are woken for the next sessions before another is made, and take them', async () => {
    const world = await afterWork();

    await world.life.submit('gpu', 3, MINUTE_MS);
    await world.advance(30 * SECOND_MS);

    expect(world.phases()).toBe('3 busy');
    expect(made(world)).toBe(4);
    expect([...world.agents.runs.values()]).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('stay parked over a restart of the server', async () => {
    const world = await afterWork();

    world.crash();
    await world.start();
    await world.advance(20 * MINUTE_MS);

    expect(world.phases()).toBe('2 parked');
    expect(states(world)).toEqual(['suspended', 'suspended']);
  });

  it('are parked and woken to the end, wherever the server dies', async () => {
    for (let nth = 1; nth < 40; nth++) {
      let isDead = false;
      const world = await openPoolWorld({
        pools: [aPool({ maxIdleSlots: 0, idleDecayMs: 0 })],
        cloud: { park: { most: 2 } },
        onWrite: async (count, write) => {
          await write();
          if (count === nth && !isDead) {
            isDead = true;
            world.crash();
          }
        },
      });
      const goOn = async (ms: number): Promise<void> => {
        await world.advance(ms);
        if (isDead) await world.start();
        await world.advance(3 * MINUTE_MS);
      };
      void world.life.submit('gpu', 2, 10 * SECOND_MS);
      await goOn(MINUTE_MS);
      void world.life.submit('gpu', 2, 10 * SECOND_MS);
      await goOn(MINUTE_MS);
      await world.advance(10 * MINUTE_MS);

      expect(world.phases()).toMatch(/^(none|[12] parked)$/);
      expect(states(world).every((state) => state === 'suspended')).toBe(true);
      expect(world.agents.kills).toEqual([]);
      expect([...world.agents.runs.values()].every((count) => count === 1)).toBe(true);
    }
  });

  it('are deleted when they are too old, too many, or of an older definition', async () => {
    const old = await afterWork({ most: 2, maxAgeMs: 10 * MINUTE_MS });
    const changed = await afterWork();

    await changed.set(aPool({ maxIdleSlots: 0, idleDecayMs: 0 }, { offers: [NEW] }, { revision: 2 }));
    await changed.advance(5 * MINUTE_MS);
    await old.advance(20 * MINUTE_MS);

    expect([old.phases(), changed.phases()]).toEqual(['none', 'none']);
    expect([states(old), states(changed)]).toEqual([[], []]);
  });

  it('go with their pool', async () => {
    const world = await afterWork();

    const at = world.clock.now();
    await world.set(aPool({}, {}, { revision: 2, removal: { at, deadlineAt: at + MINUTE_MS, why: 'asked' } }));
    await world.advance(5 * MINUTE_MS);

    expect(states(world)).toEqual([]);
  });

  it('stay parked where there is no room to wake them, and the next offer is asked', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ maxIdleSlots: 0, idleDecayMs: 0 }, { offers: [{ id: 'shape1', kind: 'sim', config: {} }, NEW] })],
      cloud: { park: { most: 2 } },
    });
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 1, 10 * SECOND_MS);
    await world.advance(2 * MINUTE_MS);
    world.cloud.script = ({ name }) =>
      name === 'resume' ? { is: 'refused', fault: new Fault('exhausted', 'no stock') } : undefined;

    await world.life.submit('gpu', 1, MINUTE_MS);
    await world.advance(40 * SECOND_MS);

    expect(world.phases()).toBe('1 busy, 1 parked');
    expect(world.cloud.machines().map(({ launch }) => launch?.mark.shape)).toEqual(['shape1', 'shape2']);
  });

  it('let another be made after a while where there is no room to wake them, since that may be in another zone', async () => {
    const world = await afterWork();
    world.cloud.script = ({ name }) =>
      name === 'resume' ? { is: 'refused', fault: new Fault('exhausted', 'no stock in its zone') } : undefined;

    await world.life.submit('gpu', 1, 10 * SECOND_MS);
    await world.advance(4 * MINUTE_MS);

    expect([...world.agents.runs.values()]).toEqual([1, 1, 1, 1]);
    expect(world.cloud.calls.filter(({ name }) => name === 'resume').length).toBeLessThan(3);
  });

  it('count against max_agents until their cloud has stopped them, and are woken then', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ maxAgents: 1, maxIdleSlots: 0, idleDecayMs: 0 })],
      cloud: { park: { most: 2 } },
    });
    const refusal = { is: 'refused', fault: new Fault('unavailable', 'not now') } as const;
    let isDown = true;
    world.cloud.script = ({ name }) => (name === 'suspend' && isDown ? refusal : undefined);
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 1, 10 * SECOND_MS);
    await world.advance(MINUTE_MS);
    await world.life.submit('gpu', 1, 10 * SECOND_MS);
    await world.advance(2 * MINUTE_MS);
    const meanwhile = { states: states(world), why: world.life.workers.plan('id-gpu').why };
    isDown = false;
    await world.advance(5 * MINUTE_MS);

    expect(meanwhile).toEqual({ states: ['running'], why: expect.stringContaining('at max_agents 1') });
    expect([...world.agents.runs.values()]).toEqual([1, 1]);
    expect([made(world), world.phases(), states(world)]).toEqual([1, '1 parked', ['suspended']]);
  });

  it('are stopped again where someone starts them outside Muster', async () => {
    const world = await afterWork();
    const [started] = world.cloud.machines();

    world.cloud.trouble(started?.machine.name ?? '', { kind: 'unavailable', message: '', final: false }, 'running');
    await world.advance(5 * MINUTE_MS);

    expect(states(world)).toEqual(['suspended', 'suspended']);
    expect(world.phases()).toBe('2 parked');
  });

  it('cost what their pool says when they are woken', async () => {
    const limits = { maxAgents: 9, maxIdleSlots: 0, idleDecayMs: 0, maxPricePerHour: 6 };
    const priced = (pricePerHour: number, revision: number) =>
      aPool(limits, { terms: { shape1: { pricePerHour } } }, { revision });
    const world = await openPoolWorld({ pools: [priced(1, 1)], cloud: { park: { most: 2 } } });
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 2, 10 * SECOND_MS);
    await world.advance(2 * MINUTE_MS);

    await world.set(priced(3, 2));
    await world.life.submit('gpu', 5, 10 * MINUTE_MS);
    await world.advance(2 * MINUTE_MS);

    expect(world.phases()).toBe('2 busy');
    expect(world.life.workers.plan('id-gpu').figures.pricePerHour).toBe(6);
  });

  it('are deleted where the cloud will not stop them', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ maxIdleSlots: 0, idleDecayMs: 0 })],
      cloud: { park: { most: 2 } },
    });
    world.cloud.script = ({ name }) =>
      name === 'suspend' ? { is: 'refused', fault: new Fault('unsupported', 'spot machines cannot stop') } : undefined;
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 1, 10 * SECOND_MS);

    await world.advance(5 * MINUTE_MS);

    expect(world.phases()).toBe('none');
    expect(states(world)).toEqual([]);
  });

  it('stay while their pool is frozen, and are deleted after the thaw where the cloud will not stop them', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ maxIdleSlots: 0, idleDecayMs: 0 })],
      cloud: { park: { most: 2 } },
    });
    world.cloud.script = ({ name }) => {
      if (name !== 'suspend') return undefined;
      void world.life.workers.freeze('id-gpu', 'asked', SELF);
      return { is: 'partial', of: () => new Fault('missing', 'no such machine') };
    };
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 1, 10 * SECOND_MS);
    await world.advance(5 * MINUTE_MS);
    const [frozen] = [...world.life.store.view.workers.all()];

    await world.life.workers.thaw('id-gpu', SELF);
    world.cloud.script = ({ name }) =>
      name === 'suspend' ? { is: 'refused', fault: new Fault('missing', 'no such machine') } : undefined;
    await world.advance(MINUTE_MS);

    expect([frozen?.parked, frozen?.removal]).toEqual([expect.anything(), undefined]);
    expect([world.phases(), states(world)]).toEqual(['none', []]);
  });
});
