import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import { checkRest, type RestOptions, unrest } from './laws/rest.ts';
import { startRandomFaults } from './random-faults.ts';
import { openSeededWorld, type SeededWorld, type SeededWorldOptions } from './seeded-world.ts';

// The longest drain, then decay worker by worker.
const LONGEST_REST_MS = 6 * HOUR_MS;
const LOOK_EVERY_MS = 2 * MINUTE_MS;

/** Lets load and faults loose on a world for so long, then lets it come to rest, and looks at what is left. */
export async function runWorld(options: SeededWorldOptions, hours: number): Promise<SeededWorld> {
  const world = await openSeededWorld(options);
  startRandomFaults({
    ...world,
    chance: world.chance('random-faults'),
    regions: [...world.regions.keys()],
    life: () => world.life,
    crash: () => world.server.crash('at any moment'),
  });
  if (!world.isPlain) world.scheduledFaults.start();
  world.load.start();
  await world.advance(hours * HOUR_MS);
  await comeToRest(world);
  return world;
}

/** The load ends, nothing goes wrong any more, operators have seen to what waits for them: all must settle by itself. */
export async function comeToRest(world: SeededWorld): Promise<void> {
  world.load.stop();
  world.draws.calm();
  world.network.restore();
  world.definitions.restore();
  world.eventLog.note('calm');
  const endMs = world.clock.monotonic() + LONGEST_REST_MS;
  do {
    await world.advance(LOOK_EVERY_MS);
    await operate(world);
  } while (world.clock.monotonic() < endMs && !world.invariants.firstBreak && isRestless(world));
  if (!world.invariants.firstBreak && world.life) checkRest(restOf(world, world.life.store));
}

const restOf = (world: SeededWorld, store: RestOptions['store']): RestOptions => ({
  invariants: world.invariants,
  regions: world.regions.values(),
  store,
  open: world.laws.open,
  unanswered: world.load.unanswered,
});

const isRestless = (world: SeededWorld): boolean =>
  !world.life || unrest(restOf(world, world.life.store)) !== undefined;

/** Thaws, resumes, approves, and drains what does not return: what only people may do. */
async function operate(world: SeededWorld): Promise<void> {
  const { life } = world;
  if (!life) return;
  const { workers, pools, store } = life;
  const asked: Promise<unknown>[] = [];
  for (const { id } of [...store.view.freezes.all()]) asked.push(workers.thaw(id, SELF));
  for (const { name, pausedAt } of [...store.view.pools.all()]) {
    if (pausedAt !== undefined) asked.push(pools.pause(name, false, SELF));
  }
  for (const { id, joinedAt, drain } of [...store.view.workers.all()]) {
    // Its agent stopped after its lease: only an operator may decide that its work is lost.
    const isLost = joinedAt !== undefined && !store.view.agents.get(id) && store.view.sessions.count('worker', id) > 0;
    if (isLost && !drain) asked.push(workers.drain(id, SELF));
  }
  for (const { id, held } of [...store.view.sources.all()]) if (held) asked.push(pools.approve(id, SELF));
  void Promise.allSettled(asked);
  await world.clock.settle();
}
