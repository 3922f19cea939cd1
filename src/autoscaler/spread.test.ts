import { it } from 'vitest';
import { check, cooling, type Row } from './testing/check.ts';

const ROWS: readonly Row[] = [
  {
    rule: 'an offer that cools down is passed over, and it is said why',
    facts: { queued: 2, offers: [{ id: 'a', ...cooling(5_000) }, { id: 'b' }] },
    does: '+2b',
    why: /launching 2 from the next backend \(exhausted: no capacity\)/,
  },
  {
    rule: 'when all offers cool down, the first to be ready again is waited for',
    facts: {
      queued: 2,
      offers: [
        { id: 'a', ...cooling(9_000) },
        { id: 'b', ...cooling(4_000) },
      ],
    },
    does: '',
    why: /launching failed/,
    againAfterMs: 4_000,
  },
  {
    rule: 'an offer gives no more than its own max_agents, the next one the rest',
    workers: 'busy a',
    facts: { queued: 3, offers: [{ id: 'a', maxAgents: 2 }, { id: 'b' }] },
    does: '+1 +2b',
  },
  {
    rule: 'when each offer is at its own max_agents nothing more is launched',
    workers: 'busy a',
    facts: { queued: 3, offers: [{ id: 'a', maxAgents: 1 }] },
    does: '',
    why: /each backend is at its own max_agents/,
  },
  {
    rule: 'the price of all machines together stays within max_price_per_hour',
    workers: 'busy $3 a, deleting $3 a',
    scaling: { maxPricePerHour: 10 },
    facts: { queued: 3, offers: [{ id: 'a', pricePerHour: 3 }] },
    does: '+1',
    why: /launching 1 of 3 needed, up to max_price_per_hour 10/,
  },
  {
    rule: 'a cheaper offer is taken where the dearer one would cost too much',
    workers: 'busy $3 a, busy $3 a',
    scaling: { maxPricePerHour: 8 },
    facts: {
      queued: 3,
      offers: [
        { id: 'a', pricePerHour: 3 },
        { id: 'b', pricePerHour: 1 },
      ],
    },
    does: '+2b',
  },
  {
    rule: 'at the price limit nothing is launched, and it is said so',
    workers: 'busy $3 a',
    scaling: { maxPricePerHour: 4 },
    facts: { queued: 3, offers: [{ id: 'a', pricePerHour: 3 }] },
    does: '',
    why: /would exceed max_price_per_hour 4/,
  },
  {
    rule: 'where its own max_agents holds an offer back before the price does, that is said',
    scaling: { maxPricePerHour: 4 },
    facts: { queued: 5, offers: [{ id: 'a', pricePerHour: 1, maxAgents: 2 }] },
    does: '+2',
    why: /launching 2 of 5 needed, up to max_agents of its backends/,
    unless: /^you raise max_agents of a backend$/,
  },
  {
    rule: 'ten times a tenth of a dollar fits into one dollar',
    scaling: { maxPricePerHour: 1, maxAgents: 20 },
    facts: { queued: 20, offers: [{ id: 'a', pricePerHour: 0.1 }] },
    does: '+10',
  },
  {
    rule: 'the most expensive worker goes first, and of equals the one that idles longest',
    workers: 'idle@10 $1 a, idle@20 $3 b, idle@30 $3 b, idle@90 $1 a',
    scaling: { maxIdleSlots: 1 },
    does: '-w2 -w1 -w3',
  },
];

it.each(ROWS)('$rule', check);
