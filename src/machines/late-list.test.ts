// Clouds that show late what they have done, and machines that take a while to go.

import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { aPool } from '#core/testing/pool.ts';
import { simKind } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const OPS = { who: 'ops', from: 'here' };

/** The most machines that were there at a time. */
function peakOf(world: PoolWorld): () => number {
  let peak = world.cloud.machines().length;
  world.cloud.onMade(() => {
    peak = Math.max(peak, world.cloud.machines().length);
  });
  return () => peak;
}

const one = aPool({ minAgents: 1, maxAgents: 1, maxIdleSlots: 5 });

describe('a machine that is on its way out', () => {
  it('counts against max_agents though no listing has shown it yet', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minAgents: 2, maxAgents: 3, maxIdleSlots: 5 })],
      cloud: { listLagMs: 8 * SECOND_MS, dyingMs: 20 * SECOND_MS },
    });
    const peak = peakOf(world);
    await world.advance(MINUTE_MS);
    const [listed = ''] = world.agents.all.keys();
    await world.life.workers.drain(listed, OPS);
    await world.advance(SECOND_MS);
    const unlisted = [...world.life.store.view.workers.all()].at(-1)?.id ?? '';

    await world.life.workers.drain(unlisted, OPS);
    await world.advance(3 * MINUTE_MS);

    expect(peak()).toBe(3);
    expect(world.phases()).toBe('2 idle');
    expect(world.cloud.machines().map(({ name }) => name)).not.toContain(unlisted);
  });

  it('is not gone by one empty listing, though the cloud agreed to delete it', async () => {
    const world = await openPoolWorld({ pools: [one], cloud: { dyingMs: 20 * SECOND_MS } });
    const peak = peakOf(world);
    await world.advance(MINUTE_MS);
    let agreedMs = Number.POSITIVE_INFINITY;
    let lies = 0;
    world.cloud.script = ({ name }) => {
      const nowMs = world.clock.monotonic();
      if (name === 'delete') agreedMs = Math.min(agreedMs, nowMs + 100);
      if (name !== 'list' || nowMs <= agreedMs || lies > 0) return undefined;
      lies += 1;
      return { is: 'answer', of: () => [] };
    };

    await world.life.workers.drain([...world.agents.all.keys()][0] ?? '', OPS);
    await world.advance(3 * MINUTE_MS);

    expect(lies).toBe(1);
    expect(peak()).toBe(1);
    expect(world.phases()).toBe('1 idle');
  });
});

describe('a cloud whose listing is never late', () => {
  type Kind = ReturnType<typeof simKind>;
  const usual = (kind: Kind): Kind => kind;
  const local = (kind: Kind): Kind => ({ ...kind, isLocal: true });
  const exact = (kind: Kind): Kind => ({
    ...kind,
    open: async (...given) => ({ ...(await kind.open(...given)), isExact: true }),
  });

  /** From the drain of the only machine of a cloud to its end. */
  async function secondsUntilGone(of: (kind: Kind) => Kind): Promise<number> {
    const world = await openPoolWorld({
      pools: [one],
      kinds: (cloud, isAlive) => ({ sim: of(simKind(cloud, isAlive)) }),
    });
    await world.advance(MINUTE_MS);
    await world.set({ ...one, spec: { ...one.spec, scaling: { ...one.spec.scaling, minAgents: 0, maxAgents: 0 } } });
    await world.life.workers.drain([...world.agents.all.keys()][0] ?? '', OPS);
    let seconds = 0;
    for (; seconds < 300 && world.phases() !== 'none'; seconds++) await world.advance(SECOND_MS);
    return seconds;
  }

  it('is listed at once for a deleted machine, and believed though it shows no other; another cloud is waited for', async () => {
    const [here, said, other] = [
      await secondsUntilGone(local),
      await secondsUntilGone(exact),
      await secondsUntilGone(usual),
    ];

    expect([here, said]).toEqual([3, 3]);
    expect(other).toBeGreaterThan(10);
  });
});

describe('a server that starts right after its machines were made', () => {
  it('waits out the lag of the listing before it gives up a name that the cloud never spoke of', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minAgents: 2, maxIdleSlots: 5 })],
      cloud: { listLagMs: 8 * SECOND_MS },
    });
    let hasSpoken = false;
    const silentOnce = () => {
      if (hasSpoken) return 'silent';
      hasSpoken = true;
      return undefined;
    };
    world.cloud.script = ({ name }) => (name === 'create' ? { is: 'partial', of: silentOnce } : undefined);
    await world.advance(300);
    world.crash();
    await world.advance(500);

    await world.start();
    await world.advance(2 * MINUTE_MS);

    expect(world.cloud.made.size).toBe(2);
    expect(world.phases()).toBe('2 idle');
  });

  it('keeps what the call of its predecessor makes late, though the cloud refuses to be asked again', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minAgents: 2, maxIdleSlots: 5 })] });
    world.cloud.script = ({ name, nth }) => {
      if (name !== 'create') return undefined;
      if (nth === 1) return { is: 'slow', ms: 20 * SECOND_MS };
      return nth === 2 ? { is: 'refused', fault: new Fault('throttled', 'Rate exceeded.') } : undefined;
    };
    await world.advance(SECOND_MS);
    world.crash();
    await world.advance(500);

    await world.start();
    await world.advance(3 * MINUTE_MS);

    expect(world.cloud.made.size).toBe(2);
    expect(world.phases()).toBe('2 idle');
    expect(world.life.store.view.launches.size).toBe(0);
  });

  it('gives up what two refused calls never made, and asks anew after the cool-down', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minAgents: 2, maxIdleSlots: 5 })] });
    world.cloud.script = ({ name, nth }) => {
      if (name !== 'create' || nth > 2) return undefined;
      return nth === 1
        ? { is: 'hang', isDone: false }
        : { is: 'refused', fault: new Fault('exhausted', 'No capacity.') };
    };
    await world.advance(SECOND_MS);
    world.crash();
    await world.start();

    await world.advance(45 * SECOND_MS);
    const refused = world.phases();
    await world.advance(3 * MINUTE_MS);

    expect(refused).toBe('none');
    expect(world.phases()).toBe('2 idle');
    expect(world.cloud.made.size).toBe(2);
  });

  it('does not take one that no listing has shown yet for vanished', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minAgents: 1, maxIdleSlots: 5, syncEveryMs: 2 * SECOND_MS })],
      cloud: { listLagMs: 8 * SECOND_MS, bootMs: 30 * SECOND_MS },
    });
    await world.advance(SECOND_MS);
    world.crash();
    await world.advance(500);

    await world.start();
    await world.advance(2 * MINUTE_MS);

    expect(world.cloud.made.size).toBe(1);
    expect(world.phases()).toBe('1 idle');
  });
});
