import { it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { check, cooling, NOW_MS, type Row } from './testing/check.ts';

const ROWS: readonly Row[] = [
  {
    rule: 'keep leaves workers of an older definition alone',
    workers: 'old idle',
    scaling: { minIdleSlots: 1 },
    facts: { updatePolicy: 'keep' },
    does: '',
  },
  {
    rule: 'replace_idle replaces one that idles, and no busy one',
    workers: 'old idle, old busy',
    scaling: { minIdleSlots: 1 },
    facts: { updatePolicy: 'replace_idle' },
    does: '-w0 +1',
    why: /^1 of an older definition: replacing it; /,
  },
  {
    rule: 'rolling drains of the busy ones first the one with the fewest free slots, whatever their order',
    workers: 'old busy 3/4, old busy 1/4, old busy 2/4',
    facts: { updatePolicy: 'rolling' },
    does: '~w1',
  },
  {
    rule: 'until a new one has joined the old ones go one at a time',
    workers: 'old idle, old idle, old idle',
    scaling: { minIdleSlots: 3 },
    facts: { updatePolicy: 'replace_idle' },
    does: '-w0 +1',
  },
  {
    rule: 'the next old one waits until the one before is gone',
    workers: 'old deleting, old idle, old idle, booting',
    scaling: { minIdleSlots: 3 },
    facts: { updatePolicy: 'replace_idle' },
    does: '',
  },
  {
    rule: 'once a new one has joined all old ones that idle go',
    workers: 'idle, old idle, old idle, old booting',
    scaling: { minIdleSlots: 4 },
    facts: { updatePolicy: 'replace_idle' },
    does: '-w3 -w1 -w2 +1',
  },
  {
    rule: 'nothing is replaced while nothing can be launched',
    workers: 'old idle, idle',
    scaling: { minIdleSlots: 2 },
    facts: { updatePolicy: 'replace_idle', offers: [{ id: 'a', ...cooling(5_000) }] },
    does: '',
    why: /older definition stay while no replacement can be launched/,
  },
  {
    rule: 'rolling keeps the new one on its way while the old one is about to come back, as after a restart',
    workers: 'old returning, launching',
    scaling: { minIdleSlots: 1, maxIdleSlots: 1 },
    facts: { updatePolicy: 'rolling' },
    does: '',
  },
  {
    rule: 'rolling lets a new one come before an old one goes',
    workers: 'old idle',
    scaling: { minIdleSlots: 1 },
    facts: { updatePolicy: 'rolling' },
    does: '+1',
  },
  {
    rule: 'rolling waits for the new one to join',
    workers: 'old idle, booting',
    scaling: { minIdleSlots: 1 },
    facts: { updatePolicy: 'rolling' },
    does: '',
  },
  {
    rule: 'rolling then lets one old one go',
    workers: 'old idle@9, old idle, idle',
    scaling: { minIdleSlots: 2 },
    facts: { updatePolicy: 'rolling' },
    does: '-w0',
  },
  {
    rule: 'rolling at max_agents replaces in place',
    workers: 'old idle',
    scaling: { minIdleSlots: 1, maxAgents: 1 },
    facts: { updatePolicy: 'rolling' },
    does: '-w0',
  },
  {
    rule: 'no old one goes by idle_decay for a new one that has not joined',
    workers: 'old idle, old idle, booting',
    scaling: { minIdleSlots: 2, idleDecayMs: 1_000 },
    facts: { updatePolicy: 'rolling', surplusSinceMs: NOW_MS - MINUTE_MS },
    does: '',
  },
  {
    rule: 'nothing is replaced by what would cost more than the pool may',
    workers: 'old idle $1, old idle $1',
    scaling: { minIdleSlots: 3, maxPricePerHour: 4 },
    facts: { updatePolicy: 'rolling', offers: [{ id: 'a', pricePerHour: 5 }] },
    does: '',
    why: /older definition stay while no replacement can be launched/,
  },
  {
    rule: 'rolling tries one more after new ones did not join, and removes no worker for it',
    workers: 'old idle, old busy',
    scaling: { minIdleSlots: 1 },
    facts: { updatePolicy: 'rolling', isProbing: true, runawayUntilMs: NOW_MS },
    does: '+1',
  },
  {
    rule: 'rolling drains one busy worker before the new definition is known to work',
    workers: 'old busy, old busy',
    facts: { updatePolicy: 'rolling' },
    does: '~w0',
  },
  {
    rule: 'rolling drains all that are full once it is known to work',
    workers: 'old busy, old busy, busy',
    facts: { updatePolicy: 'rolling' },
    does: '~w0 ~w1',
  },
];

it.each(ROWS)('$rule', check);
