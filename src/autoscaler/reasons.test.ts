import { describe, expect, it } from 'vitest';
import { plan } from './plan.ts';
import { check, cooling, factsOf, NOW_MS, type Row } from './testing/check.ts';

const CAP = { maxAgents: 2 };

const ROWS: readonly Row[] = [
  {
    rule: 'the reason of a launch is the demand, without settings',
    facts: { queued: 2 },
    does: '+2',
    reason: { code: 'demand' },
    alternatives: [],
  },
  {
    rule: 'at max_agents the reason names the setting, and what was not launched stands beside it',
    workers: 'busy, busy',
    scaling: CAP,
    facts: { queued: 3 },
    does: '',
    reason: { code: 'max-agents', with: { maxAgents: 2 } },
    alternatives: [{ what: 'launch 3 more', whyNot: 'max_agents 2 is reached' }],
  },
  {
    rule: 'what is launched up to max_agents has the same reason',
    workers: 'busy',
    scaling: CAP,
    facts: { queued: 3 },
    does: '+1',
    reason: { code: 'max-agents', with: { maxAgents: 2 } },
    alternatives: [{ what: 'launch 2 more', whyNot: 'max_agents 2 is reached' }],
  },
  {
    rule: 'a backend that is passed over is named with its fault, its words and its price',
    facts: {
      queued: 2,
      offers: [{ id: 'a', pricePerHour: 3, ...cooling(5_000) }, { id: 'b' }, { id: 'c', pricePerHour: 9 }],
    },
    does: '+2b',
    reason: { code: 'next-backend', with: { offers: 'a', faults: 'exhausted' } },
    alternatives: [
      { what: 'launch 2 from backend a', whyNot: 'exhausted: no capacity', pricePerHour: 3 },
      { what: 'launch 2 from backend c', whyNot: 'the backends before it have enough room', pricePerHour: 9 },
    ],
  },
  {
    rule: 'a backend at its own limit and one that costs too much say so',
    workers: 'busy a',
    scaling: { maxPricePerHour: 4 },
    facts: {
      queued: 3,
      offers: [
        { id: 'a', maxAgents: 1 },
        { id: 'b', pricePerHour: 3 },
      ],
    },
    does: '+1b',
    reason: { code: 'max-price', with: { maxPricePerHour: 4 } },
    alternatives: [
      { what: 'launch 3 from backend a', whyNot: 'its max_agents 1 is reached' },
      { what: 'launch 2 from backend b', whyNot: 'max_price_per_hour 4 would be exceeded', pricePerHour: 3 },
    ],
  },
  {
    rule: 'a removal for cause leads before a pool that is as it should be',
    workers: 'booting@901, idle',
    scaling: { minIdleSlots: 1, maxIdleSlots: 1 },
    does: '-w0',
    reason: { code: 'boot-timeout', with: { limit: '15m' } },
    also: ['enough'],
  },
  {
    rule: 'a launch leads before a removal for cause',
    workers: 'booting@901',
    facts: { queued: 1 },
    does: '-w0 +1',
    reason: { code: 'demand' },
    also: ['boot-timeout'],
  },
  {
    rule: 'a worker that may go later is an alternative',
    workers: 'idle',
    scaling: { maxIdleSlots: 1 },
    does: '',
    reason: { code: 'idle-decay-wait', with: { minIdle: 0, decay: '1m' } },
    alternatives: [{ what: 'remove an idle worker', whyNot: 'idle_decay 1m has not passed' }],
  },
  {
    rule: 'a worker that min_agents keeps is an alternative',
    workers: 'idle',
    scaling: { minAgents: 1, maxIdleSlots: 1 },
    does: '',
    reason: { code: 'enough', with: { minIdle: 0, maxIdle: 1, minAgents: 1 } },
    alternatives: [{ what: 'remove an idle worker', whyNot: 'min_agents 1 would be missed' }],
  },
  {
    rule: 'a worker launched to replace another is not called enough',
    workers: 'old idle',
    scaling: { minIdleSlots: 1, maxIdleSlots: 1 },
    facts: { updatePolicy: 'rolling' },
    does: '+1',
    reason: { code: 'outdated-launch' },
  },
];

it.each(ROWS)('$rule', check);

describe('the identity of a reason', () => {
  const reasonWith = (offer: string, message: string) =>
    plan(
      factsOf(
        '',
        {},
        {
          queued: 1,
          offers: [{ id: offer, coolingUntilMs: NOW_MS + 1, coolingFault: 'exhausted', coolingWhy: message }],
        },
      ),
    ).reason;

  it('is another for another backend, and the same for other words of the same fault', () => {
    const first = reasonWith('p3', 'exhausted: no p3.2xlarge, request 1');

    expect(reasonWith('p4', 'exhausted: no p4.24xlarge')).not.toEqual(first);
    expect(reasonWith('p3', 'exhausted: no p3.2xlarge, request 2')).toEqual(first);
  });

  it('is another for another limit, and the same for another queue', () => {
    const reasonAt = (maxAgents: number, queued: number) =>
      plan(factsOf('busy, '.repeat(maxAgents), { maxAgents }, { queued })).reason;

    expect(reasonAt(5, 1)).not.toEqual(reasonAt(50, 1));
    expect(reasonAt(5, 1)).toEqual(reasonAt(5, 9));
  });
});
