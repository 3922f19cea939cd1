import { expect, it } from 'vitest';
import type { Scaling } from '#core/pool.ts';
import type { Facts } from './facts.ts';
import { plan } from './plan.ts';
import { cooling, factsOf } from './testing/check.ts';

const SIZES = { minAgents: 2, maxAgents: 5, minIdleSlots: 3, maxIdleSlots: 5 };

it.each<[string, string, number, Partial<Scaling>, Partial<Facts>]>([
  ['without workers for its idle slots', '', 3, {}, {}],
  ['for its minimum', '', 4, { minAgents: 4 }, {}],
  ['with several slots a worker', '', 2, { minAgents: 1, minIdleSlots: 7, slotsPerAgent: 4 }, {}],
  ['for idle slots beside busy workers', 'busy, busy, idle', 5, {}, {}],
  ['for its queue', '', 5, {}, { queued: 2 }],
  ['within max_agents', 'busy, busy, busy, busy, busy', 5, {}, { queued: 9 }],
  ['that never launches', '', 0, { maxAgents: 0 }, {}],
  ['whose launches fail', '', 3, {}, { offers: [{ id: 'a', ...cooling(60_000) }] }],
  ['whose launching is suspended', '', 3, {}, { runawayUntilMs: 20_000_000 }],
  ['that is frozen', 'idle', 3, {}, { isFrozen: true }],
  [
    'at the limit of its backends, whose sessions take all',
    'busy, busy',
    2,
    {},
    { offers: [{ id: 'a', maxAgents: 0 }] },
  ],
  ['with a lost worker that has no session', 'lost, idle, idle', 3, {}, {}],
  ['with a lost worker that has a session', 'lost 0/1, idle, idle, idle', 4, {}, {}],
  ['that shrinks', 'idle, idle, idle, idle, idle, idle, idle', 5, {}, {}],
])('a pool %s must have as many workers as it needs, not as many as exist', (_, workers, wanted, scaling, more) => {
  expect(plan(factsOf(workers, { ...SIZES, ...scaling }, more)).need.wanted).toBe(wanted);
});
