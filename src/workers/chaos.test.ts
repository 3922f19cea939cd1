import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Random, seededRandom } from '#core/random.ts';
import { aPool } from '#core/testing/pool.ts';
import { namesAskedFor, namesEnded } from '#machines/testing/ended.ts';
import type { SimCall, SimEffect } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const MOST_AGENTS = 6;

const NAMED_FAULTS = ['exhausted', 'throttled', 'unavailable', 'quota', 'internal'] as const;

const spanMs = (random: Random, mostMs: number): number => Math.floor(random.next() * mostMs);

/** Now and then something goes wrong with a call. */
function someEffect(random: Random, call: SimCall): SimEffect | undefined {
  const roll = random.next();
  const fault = new Fault(NAMED_FAULTS[Math.floor(random.next() * NAMED_FAULTS.length)] ?? 'internal', 'bad luck');
  if (roll < 0.05) return { is: 'refused', fault };
  if (roll < 0.1) return { is: 'lost reply' };
  if (roll < 0.13) return { is: 'hang', isDone: random.next() < 0.5 };
  if (roll < 0.2) return { is: 'slow', ms: spanMs(random, 20_000) };
  if (roll < 0.25 && call.name !== 'list') {
    // A check that tells of a failure is believed: clouds do not lie there.
    const kinds = [call.name === 'check' ? undefined : fault, 'silent', 'skipped', undefined] as const;
    return { is: 'partial', of: () => kinds[Math.floor(random.next() * kinds.length)] };
  }
  return roll < 0.28 && call.name === 'list' ? { is: 'answer', of: () => [] } : undefined;
}

/** One listing may be wrong; that two good ones in a row are not is what we build on. */
function honestly(effectOf: (call: SimCall) => SimEffect | undefined): (call: SimCall) => SimEffect | undefined {
  let hasLied = false;
  return (call) => {
    const effect = effectOf(call);
    if (call.name !== 'list') return effect;
    const isLie = effect?.is === 'answer' && !hasLied;
    if (!effect || effect.is === 'slow' || effect.is === 'answer') hasLied = isLie;
    return effect?.is === 'answer' && !isLie ? undefined : effect;
  };
}

interface Seen {
  peak: number;
  crashes: number;
  /** Machines that died by themselves; only their sessions may start twice. */
  deaths: number;
}

async function storm(world: PoolWorld, random: Random, seen: Seen): Promise<void> {
  for (let minute = 0; minute < 90; minute++) {
    await world.advance(spanMs(random, 2 * MINUTE_MS));
    const roll = random.next();
    const names = [...world.agents.all.keys()];
    const name = names[Math.floor(random.next() * names.length)];
    if (roll < 0.4)
      world.life.submit('gpu', 1 + Math.floor(random.next() * 5), spanMs(random, 3 * MINUTE_MS)).catch(() => {});
    else if (roll < 0.5) {
      seen.crashes += 1;
      world.crash();
      await world.advance(spanMs(random, MINUTE_MS));
      await world.start();
    } else if (roll < 0.6 && name) {
      world.agents.cutOff([name], true);
      world.clock.alarm(spanMs(random, 5 * MINUTE_MS), () => world.agents.cutOff([name], false));
    } else if (roll < 0.65 && name) {
      seen.deaths += 1;
      world.cloud.kill(name);
    } else if (roll < 0.7) world.clock.jump(spanMs(random, 20 * MINUTE_MS) - 10 * MINUTE_MS);
  }
}

async function run(seed: number): Promise<{ world: PoolWorld; seen: Seen }> {
  const random = seededRandom(seed);
  const seen: Seen = { peak: 0, crashes: 0, deaths: 0 };
  const pool = aPool({ maxAgents: MOST_AGENTS, minIdleSlots: 1, maxIdleSlots: 2, bootTimeoutMs: 5 * MINUTE_MS });
  const world = await openPoolWorld({
    pools: [pool],
    seed,
    cloud: { bootMs: 15_000, listLagMs: 4_000, deletingMs: 10_000, ...(seed % 2 === 0 && { pendingMs: 8_000 }) },
  });
  world.cloud.failsLate = () => (random.next() < 0.1 ? new Fault('exhausted', 'bad luck, later') : undefined);
  world.cloud.script = honestly((call) => someEffect(random, call));
  world.cloud.onBoot(() => {
    seen.peak = Math.max(seen.peak, world.cloud.machines().length);
  });

  await storm(world, random, seen);
  // Then nothing goes wrong any more, and an operator has looked at what was frozen.
  world.cloud.script = () => undefined;
  world.cloud.failsLate = () => undefined;
  await world.advance(10 * MINUTE_MS);
  for (const freeze of [...world.life.store.view.freezes.all()]) {
    await Promise.race([world.life.workers.thaw(freeze.id, { who: 'ops', from: 'here' }), world.advance(1)]);
  }
  await world.advance(60 * MINUTE_MS);
  return { world, seen };
}

describe('a storm of crashes, cuts, dead machines and cloud faults', () => {
  it.each(Array.from({ length: 25 }, (_, at) => at + 1))(
    'leaves nothing doubled, leaked, killed or lost: seed %i',
    async (seed) => {
      const { world, seen } = await run(seed);

      const { view } = world.life.store;
      const rows = [...view.workers.all()].map((worker) => worker.id);
      expect(
        world.cloud
          .machines()
          .map((made) => made.machine.name)
          .toSorted(),
      ).toEqual(rows.toSorted());
      expect(world.phases()).toBe('1 idle');
      expect(namesEnded(world.disk)).toEqual(namesAskedFor(world.disk).filter((name) => !rows.includes(name)));
      expect({ launches: view.launches.size, sessions: view.sessions.size }).toEqual({ launches: 0, sessions: 0 });
      expect(world.agents.kills).toEqual([]);
      const again = [...world.agents.runs.values()].filter((times) => times > 1).length;
      expect(again).toBeLessThanOrEqual(seen.deaths);
      expect(Math.max(...world.cloud.made.values())).toBe(1);
      expect(seen.peak).toBeLessThanOrEqual(MOST_AGENTS);
    },
  );
});
