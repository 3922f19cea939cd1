import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type SimCloud, simCloud } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';

const BAD = { id: 'bad', kind: 'away', config: {} };
const limits = { minAgents: 1, maxAgents: 1 };

/** A pool that has asked for a machine of a bad offer, and names the good one alone since. */
async function openCorrected(away: (clock: VirtualClock) => SimCloud, options: PoolWorldOptions = {}) {
  const pool = aPool(limits, { offers: [BAD, OFFER] });
  const world = await openPoolWorld({ pools: [pool], moreClouds: (clock) => ({ away: away(clock) }), ...options });
  await world.advance(5 * MINUTE_MS);
  expect(world.life.store.view.offers.get('bad')).toBeDefined();
  await world.set(aPool(limits, { offers: [OFFER] }, { revision: 2 }));
  return world;
}

/** Its credentials are wrong. */
function closed(counts: { opened: number }): SimCloud {
  return {
    ...simCloud({ clock: new VirtualClock() }),
    backend() {
      counts.opened += 1;
      throw new Fault('unauthenticated', 'No credentials.');
    },
  };
}

describe('an offer whose cloud was never listed and that nothing uses any more', () => {
  it('goes where no creation was ever sent from it, and its cloud is asked no more', async () => {
    const counts = { opened: 0 };
    const world = await openCorrected(() => closed(counts));
    await world.advance(30 * MINUTE_MS);
    const { opened } = counts;
    await world.advance(DAY_MS);

    expect([...world.life.store.view.offers.all()].map(({ id }) => id)).toEqual([OFFER.id]);
    expect(counts.opened).toBe(opened);
  });

  it('goes also after a restart', async () => {
    const world = await openCorrected(() => closed({ opened: 0 }));
    world.crash();
    await world.start();
    await world.advance(30 * MINUTE_MS);

    expect(world.life.store.view.offers.get('bad')).toBeUndefined();
  });

  it('stays where a creation was sent from it, though that was refused: an earlier one may have been carried out', async () => {
    const world = await openCorrected((clock) => {
      const cloud = simCloud({ clock, cloud: 'elsewhere' });
      cloud.script = ({ name }) => {
        const fault = name === 'create' ? new Fault('exhausted', 'No room.') : new Fault('unavailable', 'Away.');
        return { is: 'refused', fault };
      };
      return cloud;
    });
    await world.advance(60 * MINUTE_MS);
    world.crash();
    await world.start();
    await world.advance(60 * MINUTE_MS);

    expect(world.life.store.view.launches.size).toBe(0);
    expect(world.life.store.view.offers.get('bad')).toBeDefined();
  });

  it('stays where the backup that it is from is older than what may have been sent since', async () => {
    const world = await openCorrected(() => closed({ opened: 0 }), { restoredAt: Date.UTC(2100, 0, 1) });
    await world.advance(60 * MINUTE_MS);

    expect(world.life.store.view.offers.get('bad')).toBeDefined();
  });
});
