import { afterAll, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { someScaling } from '#core/testing/pool.ts';
import { openModelLink } from './model-link.ts';
import { answerQuestion, demandAtRate, type ModelQuestion, packDemand } from './model-question.ts';

const link = openModelLink(systemClock);
afterAll(() => link.close());

const policy = {
  scaling: someScaling({ maxAgents: 50 }),
  offers: [{ id: 'a', pricePerHour: 1 }],
  supply: { a: { readyAfterMs: [MINUTE_MS] } },
};
const stretch = { fromMs: 0, untilMs: DAY_MS, seed: 1 };
const rate = { perHour: 20, lastsMs: 5 * MINUTE_MS };
const never = new AbortController().signal;

const question = (more: Partial<ModelQuestion> = {}): ModelQuestion => ({
  ...{ demand: packDemand(demandAtRate(rate, stretch)), policies: [policy], ...stretch },
  ...more,
});

it('answers in its thread as it does in this one', async () => {
  const here = answerQuestion(question());

  expect(await link.ask(question(), never)).toEqual(here);
  expect(here[0]?.launches).toBeGreaterThan(10);
});

it('passes a refusal of the model on with its remedy', async () => {
  await expect(link.ask(question({ mostEvents: 10 }), never)).rejects.toMatchObject({
    kind: 'quota',
    remedy: expect.stringContaining('shorter'),
  });
});

it('ends a run that is aborted, and answers the next question in a new thread', async () => {
  const stop = new AbortController();
  const endless = link.ask(question({ demand: { perHour: 100_000, lastsMs: DAY_MS }, mostEvents: 1e9 }), stop.signal);
  stop.abort(new Fault('quota', 'too long'));

  await expect(endless).rejects.toMatchObject({ message: 'too long' });
  expect(await link.ask(question({ demand: rate }), never)).toHaveLength(1);
});

it('lets the event loop go on while it computes', async () => {
  const stop = new AbortController();
  let isOver = false;
  const endless = link
    .ask(question({ demand: { perHour: 100_000, lastsMs: DAY_MS }, mostEvents: 1e9 }), stop.signal)
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  for (let turns = 0; turns < 1_000; turns += 1) await new Promise((resolve) => systemClock.soon(() => resolve(turns)));

  expect(isOver).toBe(false);
  stop.abort(new Fault('unavailable', 'enough'));
  await endless;
});
