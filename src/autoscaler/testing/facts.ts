import fc from 'fast-check';
import { UPDATE_POLICIES } from '#core/pool.ts';
import type { Facts, WorkerFact } from '../plan.ts';

export const NOW_MS = 1_000_000_000;
const PHASES = [
  'launching',
  'booting',
  'idle',
  'busy',
  'draining',
  'lost',
  'deleting',
  'unknown',
  'returning',
  'parked',
] as const;

const aWorker = fc
  .record({
    phase: fc.constantFrom(...PHASES),
    slots: fc.integer({ min: 1, max: 8 }),
    taken: fc.integer({ min: 0, max: 8 }),
    agoMs: fc.integer({ min: 0, max: 2_000_000 }),
    offer: fc.constantFrom('a', 'b'),
    pricePerHour: fc.constantFrom(undefined, 0.5, 3),
    isOutdated: fc.boolean(),
    isStopping: fc.boolean(),
  })
  .map(({ phase, slots, taken, agoMs, ...rest }): Omit<WorkerFact, 'name'> => {
    const isEmpty = phase === 'idle' || phase === 'launching' || phase === 'booting';
    const busySlots = phase === 'busy' ? Math.max(1, Math.min(taken, slots)) : isEmpty ? 0 : Math.min(taken, slots);
    return { ...rest, phase, slots, freeSlots: slots - busySlots, sinceMs: NOW_MS - agoMs };
  });

/** Facts of every kind, also such as no pool ever has. */
export const someFacts: fc.Arbitrary<Facts> = fc.record({
  nowMs: fc.constant(NOW_MS),
  scaling: fc
    .record({
      mode: fc.constantFrom('standard', 'batch'),
      minAgents: fc.integer({ min: 0, max: 6 }),
      maxAgents: fc.integer({ min: 0, max: 12 }),
      minIdleSlots: fc.integer({ min: 0, max: 10 }),
      maxIdleSlots: fc.integer({ min: 0, max: 14 }),
      idleDecayMs: fc.constantFrom(0, 60_000),
      syncEveryMs: fc.constant(60_000),
      killUnknownAfterMs: fc.constantFrom(0, 300_000),
      slotsPerAgent: fc.integer({ min: 1, max: 5 }),
      retryDelayMs: fc.constant(60_000),
      errorResetAfterMs: fc.constant(90_000),
      bootTimeoutMs: fc.constant(900_000),
      maxPricePerHour: fc.constantFrom(undefined, 2, 20),
    })
    .map((scaling) => ({ ...scaling, minAgents: Math.min(scaling.minAgents, scaling.maxAgents) })),
  setBy: fc.constantFrom(undefined, {
    minIdleSlots: 'schedule mon-fri 08:00-18:00 Europe/Berlin',
    maxAgents: 'schedule "office"',
  }),
  workers: fc.array(aWorker, { maxLength: 14 }).map((workers) => workers.map((w, at) => ({ ...w, name: `w${at}` }))),
  queued: fc.integer({ min: 0, max: 12 }),
  offers: fc
    .array(
      fc.record({
        pricePerHour: fc.constantFrom(undefined, 0.5, 3),
        maxAgents: fc.constantFrom(undefined, 0, 3),
        countedPerHour: fc.constantFrom(undefined, 0, 4),
        isUnpriced: fc.constantFrom(undefined, true as const),
        coolingUntilMs: fc.constantFrom(undefined, NOW_MS + 1_000.25, NOW_MS - 1_000),
        coolingFault: fc.constantFrom(undefined, 'exhausted', 'denied'),
        coolingWhy: fc.constantFrom(undefined, 'exhausted: no "p3.2xlarge"', 'denied: ask them'),
      }),
      { maxLength: 2 },
    )
    .map((offers) => offers.map((offer, at) => ({ ...offer, id: 'ab'.charAt(at) }))),
  budgets: fc.constantFrom(
    undefined,
    undefined,
    [{ name: 'ml', perHour: 20, hourLeft: 7.1 }],
    [
      { name: 'ml', perHour: 20, hourLeft: 3, perMonth: 100 },
      { name: 'all', perMonth: 4_000, monthLeft: 2 },
    ],
    [{ name: 'all', perMonth: 4_000, monthLeft: -1, isSpent: true as const }],
  ),
  updatePolicy: fc.constantFrom(...UPDATE_POLICIES),
  isReady: fc.boolean(),
  cloudFault: fc.constantFrom(undefined, { kind: 'unavailable', message: 'unavailable: no answer' } as const),
  isPaused: fc.boolean(),
  isFrozen: fc.boolean(),
  isRemoving: fc.boolean(),
  runawayUntilMs: fc.constantFrom(undefined, NOW_MS + 1_000, NOW_MS - 1_000),
  isProbing: fc.boolean(),
  lostAfterMs: fc.constantFrom(undefined, 600_000),
  surplusSinceMs: fc.constantFrom(undefined, NOW_MS - 1_000, NOW_MS - 60_000),
});
