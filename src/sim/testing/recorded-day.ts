// A simulated day of priced pools, with all its records: what happened, and what the model says of the same demand.
import { HOUR_MS } from '#core/clock.ts';
import type { PoolFigures } from '#core/forecast.ts';
import { seededRandom } from '#core/random.ts';
import { modelPool } from '#foresight/model.ts';
import { demandOf, readPast, supplyOf } from '#foresight/past.ts';
import { truthOf } from '#foresight/truth.ts';
import { chanceFrom } from '../chance.ts';
import { someDefinition } from '../definitions.ts';
import { openSeededWorld, type SeededWorld } from '../seeded-world.ts';

const MEAN_SESSION_MS = 240_000;
const REGIONS = ['region-1', 'region-2'];

export interface RecordedDay extends Pick<SeededWorld, 'disk' | 'clock'> {
  readonly store: NonNullable<SeededWorld['life']>['store'];
  readonly fromMs: number;
  readonly untilMs: number;
}

export async function recordDay(seed: number, { pools = 4, hours = 24 } = {}): Promise<RecordedDay> {
  const chance = chanceFrom(seededRandom(seed * 77));
  const definitions = Array.from({ length: pools }, (_, at) => {
    return { ...someDefinition(`pool-${at}`, REGIONS, chance), pricePerHour: 1 + at / 4 };
  });
  const settings = { seed, pools: definitions, keepsHistory: true, meanSessionMs: MEAN_SESSION_MS };
  const world = await openSeededWorld(settings);
  const fromMs = world.clock.now();
  world.load.start();
  await world.advance(hours * HOUR_MS);
  const { store } = world.life as NonNullable<SeededWorld['life']>;
  return { disk: world.disk, clock: world.clock, store, fromMs, untilMs: world.clock.now() };
}

export interface Compared {
  readonly name: string;
  readonly truth: PoolFigures;
  readonly model: PoolFigures;
}

/** Each pool of the day, as it was and as the model has it with the same policy. */
export async function compareWithModel({ store, fromMs, untilMs }: RecordedDay): Promise<readonly Compared[]> {
  const compared: Compared[] = [];
  for (const pool of store.view.pools.all()) {
    const past = await readPast(store, pool, { fromMs, untilMs });
    const { scaling, offers, terms } = pool.spec;
    const model = modelPool({
      ...{ scaling, offers: offers.map(({ id }) => ({ id, ...terms?.[id] })), seed: 1 },
      ...{ demand: demandOf(past), supply: supplyOf(past), fromMs, untilMs, mostEvents: 1_000_000 },
    });
    compared.push({ name: pool.name, truth: truthOf(past), model });
  }
  return compared;
}

const isWithin = (share: number, one: number, other: number): boolean => Math.abs(one - other) <= share * one;

/** Launches and dollars within a tenth. */
export const costsAlike = ({ truth, model }: Compared): boolean =>
  isWithin(0.1, truth.launches, model.launches) && isWithin(0.1, truth.dollars, model.dollars);

/** The p95 wait within a fifth, or two seconds. */
export const waitsAlike = ({ truth, model }: Compared): boolean =>
  isWithin(0.2, truth.waits.p95Ms, model.waits.p95Ms) || Math.abs(truth.waits.p95Ms - model.waits.p95Ms) <= 2_000;
