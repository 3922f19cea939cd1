import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countedPerHour } from './budget-room.ts';
import { type Facts, type Plan, plan, type WorkerFact } from './plan.ts';
import { reasons } from './reasons.ts';
import { NOW_MS, someFacts } from './testing/facts.ts';

const active = {
  offers: [{ id: 'a' }],
  budgets: undefined,
  updatePolicy: 'keep',
  isReady: true,
  isPaused: false,
  isFrozen: false,
  isRemoving: false,
  isProbing: false,
  runawayUntilMs: undefined,
} as const;
const withoutPrice = (facts: Facts): Facts => ({ ...facts, scaling: { ...facts.scaling, maxPricePerHour: undefined } });
const activeFacts = someFacts.map((facts): Facts => withoutPrice({ ...facts, ...active }));

const launched = ({ actions }: Plan): number =>
  actions.reduce((sum, action) => sum + (action.do === 'launch' ? action.count : 0), 0);
/** Machines that exist and do not stand still. */
const running = ({ workers }: Facts): WorkerFact[] =>
  workers.filter(({ phase, isStopping }) => phase !== 'parked' || isStopping === true);
const removed = ({ actions }: Plan): string[] =>
  actions.flatMap((action) => (action.do === 'remove' ? [action.worker] : []));

/** What budgets count for its launches; infinite where they count no price. */
function countedOf({ actions }: Plan, offers: Facts['offers']): number {
  const prices = new Map(offers.map((offer) => [offer.id, countedPerHour(offer) ?? Number.POSITIVE_INFINITY]));
  return actions.reduce((sum, one) => sum + (one.do === 'launch' ? one.count * (prices.get(one.offer) ?? 0) : 0), 0);
}

function leastLeft(budgets: NonNullable<Facts['budgets']>): number {
  const lefts = budgets.flatMap(({ perHour, hourLeft = -1, perMonth, monthLeft = -1 }) => [
    ...(perHour === undefined ? [] : [hourLeft]),
    ...(perMonth === undefined ? [] : [monthLeft]),
  ]);
  return Math.min(...lefts);
}

/** The facts after the plan was carried out and the clouds have agreed, at the same moment. */
function carriedOut(facts: Facts, made: Plan, step: number): Facts {
  const gone = new Set(removed(made));
  const fresh = Array.from({ length: launched(made) }, (_, at): WorkerFact => {
    const { slotsPerAgent: slots } = facts.scaling;
    return { name: `new${step}-${at}`, phase: 'booting', slots, freeSlots: slots, sinceMs: facts.nowMs };
  });
  const workers = [...facts.workers.filter(({ name }) => !gone.has(name)), ...fresh];
  return { ...facts, workers, surplusSinceMs: made.surplusSinceMs };
}

describe('plan', () => {
  it('answers anything without throwing, and names only workers that are there, each once', () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const made = plan(facts);
        const names = removed(made);

        expect(new Set(names).size).toBe(names.length);
        expect(names.every((name) => facts.workers.some((worker) => worker.name === name))).toBe(true);
        expect(made.why).toMatch(/^[A-Z0-9].*\.$/);
        expect(made.againAfterMs ?? 0).toBeGreaterThanOrEqual(0);
        expect([made.reason, ...made.also].filter(({ code }) => !(code in reasons.reasons))).toEqual([]);
        expect(made.also).not.toContain(made.reason);
      }),
      { numRuns: 3_000 },
    );
  });

  it('never plans for more machines than max_agents', () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const made = plan(facts);

        if (launched(made) > 0)
          expect(running(facts).length + launched(made)).toBeLessThanOrEqual(facts.scaling.maxAgents);
      }),
      { numRuns: 3_000 },
    );
  });

  it('never plans for a dearer pool than max_price_per_hour, nor for more of an offer than it may give', () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const launches = plan(facts).actions.filter((action) => action.do === 'launch');
        const { maxPricePerHour = Number.POSITIVE_INFINITY } = facts.scaling;
        const priceOf = (id: string): number => facts.offers.find((offer) => offer.id === id)?.pricePerHour ?? 0;
        let price = running(facts).reduce((sum, worker) => sum + (worker.pricePerHour ?? 0), 0);
        for (const { offer, count } of launches) {
          price += count * priceOf(offer);
          const there = running(facts).filter((worker) => worker.offer === offer).length;
          const most = facts.offers.find(({ id }) => id === offer)?.maxAgents ?? Number.POSITIVE_INFINITY;
          expect(there + count).toBeLessThanOrEqual(most);
        }
        if (launches.some(({ offer }) => priceOf(offer) > 0)) expect(price).toBeLessThanOrEqual(maxPricePerHour + 1e-6);
      }),
      { numRuns: 3_000 },
    );
  });

  it('never plans launches that exceed a budget, nor such of a price that none counts', () => {
    fc.assert(
      fc.property(activeFacts, someFacts, (facts, { budgets = [], offers }) => {
        const made = plan({ ...facts, budgets, offers });
        const price = countedOf(made, offers);
        if (budgets.length > 0 && price !== 0) expect(price).toBeLessThanOrEqual(leastLeft(budgets) + 1e-6);
      }),
      { numRuns: 3_000 },
    );
  });

  it('takes no worker with a session away, whatever is spent', () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        const spent = { ...facts, budgets: [{ name: 'all', perMonth: 1, monthLeft: -1, isSpent: true as const }] };
        const gone = new Set(plan(spent).actions.flatMap((one) => (one.do === 'remove' ? one.worker : [])));
        const busy = facts.workers.filter(({ phase, slots, freeSlots }) => phase === 'busy' && freeSlots < slots);

        expect(busy.filter(({ name }) => gone.has(name))).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
  });

  it('replaces workers of an older definition to the end, and each once', () => {
    fc.assert(
      fc.property(activeFacts, fc.constantFrom('replace_idle', 'rolling'), (facts, updatePolicy) => {
        const free = facts.workers.filter(({ phase }) => phase === 'idle' || phase === 'booting');
        let now: Facts = { ...facts, workers: free, updatePolicy, queued: 0 };
        for (let step = 0; step < 60; step++) {
          const made = plan(now);
          expect(removed(made).filter((name) => name.startsWith('new') && launched(made) > 0)).toEqual([]);
          const isQuiet = now.workers.every(({ phase }) => phase === 'idle');
          if (made.actions.length === 0 && isQuiet) break;
          const then = carriedOut(now, made, step);
          // All that came has joined by the time of the next look.
          now = { ...then, workers: then.workers.map((worker) => ({ ...worker, phase: 'idle', sinceMs: NOW_MS })) };
        }
        const canBeReplaced = facts.scaling.mode === 'standard' && facts.scaling.maxAgents > 0;
        if (canBeReplaced) expect(now.workers.filter((worker) => worker.isOutdated)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never removes a worker with a session', () => {
    fc.assert(
      fc.property(someFacts, (facts) => {
        for (const name of removed(plan(facts))) {
          const worker = facts.workers.find((each) => each.name === name);
          if (worker?.phase === 'unknown') continue;
          expect(worker?.freeSlots).toBe(worker?.slots);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('never launches and removes for size in one plan', () => {
    fc.assert(
      fc.property(activeFacts, (facts) => {
        const made = plan(facts);
        const forSize = made.actions.filter((action) => action.do === 'remove' && !action.isOverdue);

        expect(launched(made) > 0 && forSize.length > 0).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('comes to rest when carried out, without taking back what it did', () => {
    fc.assert(
      fc.property(activeFacts, (facts) => {
        let now = facts;
        let didRemove = false;
        for (let step = 0; step < 4; step++) {
          const made = plan(now);
          const forSize = made.actions.flatMap((each) =>
            each.do === 'remove' && !each.isOverdue ? [each.worker] : [],
          );
          expect(forSize.filter((name) => name.startsWith('new'))).toEqual([]);
          expect(launched(made) > 0 && didRemove).toBe(false);
          didRemove ||= forSize.length > 0;
          if (made.actions.length === 0) return;
          now = carriedOut(now, made, step);
        }
        expect(plan(now).actions).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('reaches min_idle and min_agents where max_agents and the mode allow it', () => {
    fc.assert(
      fc.property(activeFacts, (facts) => {
        const made = plan(facts);
        const then = carriedOut(facts, made, 0);
        const { scaling } = facts;
        const serving = then.workers.filter(({ phase }) => !['draining', 'lost', 'deleting', 'parked'].includes(phase));
        const idle = serving.reduce((sum, worker) => sum + (worker.phase === 'unknown' ? 0 : worker.freeSlots), 0);
        const isFull = running(facts).length + launched(made) >= scaling.maxAgents;

        if (scaling.mode === 'batch' || isFull) return;
        expect(idle - facts.queued).toBeGreaterThanOrEqual(scaling.minIdleSlots);
        expect(serving.length).toBeGreaterThanOrEqual(scaling.minAgents);
      }),
      { numRuns: 3_000 },
    );
  });
});
