// A small world with a fixed course, in which the server can be made to die at every single step.
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { CrashPoint } from './crash-points.ts';
import { comeToRest } from './day.ts';
import type { Definition } from './definitions.ts';
import { diskWithSecrets } from './disk.ts';
import type { FaultRates } from './faults.ts';
import { openSeededWorld, type SeededWorld } from './seeded-world.ts';
import { commandOf } from './work.ts';

const POOL: Definition = {
  name: 'gpu',
  regions: ['north'],
  size: 'small',
  slots: 2,
  minAgents: 0,
  maxAgents: 3,
  minIdle: 1,
  maxIdle: 2,
  idleDecayS: 20,
  bootTimeoutS: 120,
  drainTimeoutS: 120,
};

export interface ScriptOptions {
  readonly seed?: number;
  readonly faults?: FaultRates;
  readonly crashAt?: CrashPoint | undefined;
}

/** Grows, works, loses sight of an agent, is changed, shrinks, and comes to rest; the server dies once, if asked to. */
export async function runScript({ seed = 1, ...options }: ScriptOptions = {}): Promise<SeededWorld> {
  const world = await openSeededWorld({ ...options, seed, pools: [POOL], disk: await diskWithSecrets() });
  const submit = (count: number, seconds: number): void => {
    const command = commandOf({ durationMs: seconds * SECOND_MS, exitCode: 0, pieces: 2 });
    const spec = { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 1 };
    world.load.submit(Array.from({ length: count }, () => ({ pool: POOL.name, spec })));
  };
  await world.advance(50 * SECOND_MS);
  submit(2, 40);
  await world.advance(5 * SECOND_MS);
  submit(3, 20);
  await world.advance(20 * SECOND_MS);
  for (const agent of [...world.agents.all.values()].slice(0, 1)) world.network.cut(agent, 40 * SECOND_MS);
  await world.advance(30 * SECOND_MS);
  submit(1, 5);
  world.definitions.write({ ...POOL, maxAgents: 2, minIdle: 0 });
  await world.advance(MINUTE_MS);
  world.definitions.remove(POOL.name);
  await world.advance(2 * MINUTE_MS);
  await comeToRest(world);
  return world;
}
