import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import type { Scaling } from '#core/pool.ts';
import { ASSUMED_READY_MS } from './model-machines.ts';
import { answerQuestion } from './model-question.ts';

// Few enough to be computed at once; each begins when others have mostly ended, as in most pools for most of the day.
const DEMAND = { perHour: 6, lastsMs: 5 * MINUTE_MS };
const OFFERS = [{ id: 'any' }];
const SUPPLY = { any: { readyAfterMs: [ASSUMED_READY_MS] } };
const MOST_REMEMBERED = 1_000;

const remembered = new Map<string, number>();

/** How many machines a pool with these limits launches for each session that comes by itself, as the model has it. */
export function launchesASession(scaling: Scaling): number {
  const key = JSON.stringify(scaling);
  let launches = remembered.get(key);
  if (launches === undefined) {
    const policies = [{ scaling, offers: OFFERS, supply: SUPPLY }] as const;
    const question = { demand: DEMAND, policies, fromMs: 0, untilMs: DAY_MS, seed: 1, startsAtRest: true };
    const [run] = answerQuestion(question);
    launches = run && run.sessions > 0 ? run.launches / run.sessions : 0;
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(key, launches);
  }
  return launches;
}
