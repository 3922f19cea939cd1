import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { plan } from './plan.ts';
import { check, cooling, factsOf, NOW_MS, type Row } from './testing/check.ts';

const ROWS: readonly Row[] = [
  // Derived quantities.
  { rule: 'nothing is wanted of an empty pool', does: '' },
  {
    rule: 'idle counts slots, not workers',
    workers: 'busy 3/4',
    scaling: { minIdleSlots: 3, slotsPerAgent: 4 },
    does: '',
  },
  { rule: 'the queue has first call on idle slots', workers: 'idle', facts: { queued: 1 }, does: '' },
  { rule: 'a queue longer than the idle slots launches the rest', workers: 'idle', facts: { queued: 3 }, does: '+2' },
  {
    rule: 'a worker on its way counts as its expected slots',
    workers: 'booting 4/4, launching 4/4',
    scaling: { slotsPerAgent: 4 },
    facts: { queued: 8 },
    does: '',
  },
  { rule: 'an unknown machine has no idle slots', workers: 'unknown', facts: { queued: 1 }, does: '+1' },
  { rule: 'an unknown machine counts in the size', workers: 'unknown', scaling: { minAgents: 1 }, does: '' },
  { rule: 'a lost worker does not count in the size', workers: 'lost', scaling: { minAgents: 1 }, does: '+1' },
  { rule: 'a deleting worker does not count in the size', workers: 'deleting', scaling: { minAgents: 1 }, does: '+1' },
  { rule: 'a worker expected back counts as before', workers: 'returning', facts: { queued: 1 }, does: '' },
  // Growing.
  {
    rule: 'idle below min_idle launches',
    scaling: { minIdleSlots: 2 },
    does: '+2',
    why: /below min_idle 2: launching 2/,
  },
  {
    rule: 'fewer than min_agents launches',
    workers: 'busy',
    scaling: { minAgents: 3 },
    does: '+2',
    why: /min_agents 3/,
  },
  {
    rule: 'min_idle counts slots when it launches',
    scaling: { minIdleSlots: 5, slotsPerAgent: 4, maxIdleSlots: 9 },
    does: '+2',
  },
  {
    rule: 'scaling up has no step limit but max_agents',
    facts: { queued: 100 },
    does: '+5',
    why: /launching 5 of 100 needed/,
  },
  {
    rule: 'max_agents 0 never launches',
    scaling: { maxAgents: 0, minIdleSlots: 1 },
    facts: { queued: 1 },
    does: '',
    why: /max_agents 0 never launches/,
    unless: /raise max_agents/,
  },
  {
    rule: 'at max_agents nothing more is launched, and it is said what would help',
    workers: 'busy, busy, busy, busy, busy',
    facts: { queued: 2 },
    does: '',
    why: /^2 queued and 0 idle, but the pool is at max_agents 5\.$/,
    unless: /^you raise max_agents, or a session ends$/,
  },
  {
    rule: 'lost, deleting, draining and unknown machines count against max_agents',
    workers: 'lost 0/1, deleting, draining 0/1, unknown',
    facts: { queued: 4 },
    does: '+1',
  },
  {
    rule: 'batch mode does not grow by itself',
    scaling: { mode: 'batch' },
    facts: { queued: 4 },
    does: '',
    why: /batch/,
  },
  {
    rule: 'after a failed launch it waits out the cool-down',
    facts: { queued: 1, offers: [{ id: 'a', ...cooling(5_000) }] },
    does: '',
    why: /1 queued and 0 idle, but launching failed \(exhausted: no capacity\)/,
    againAfterMs: 5_000,
  },
  {
    rule: 'after the cool-down it launches again',
    facts: { queued: 1, offers: [{ id: 'a', ...cooling(0) }] },
    does: '+1',
  },
  {
    rule: 'when machines do not join, launching stops',
    facts: { queued: 1, runawayUntilMs: NOW_MS + 7_000 },
    does: '',
    why: /did not join/,
    againAfterMs: 7_000,
  },
  { rule: 'after that, one is tried', facts: { queued: 3, isProbing: true }, does: '+1', why: /launching 1 of 3/ },
  {
    rule: 'though there is room for some, and it is said that this is not max_agents',
    facts: { queued: 9, isProbing: true },
    does: '+1',
    why: /launching 1 of 9 needed because the last ones did not join/,
    unless: /^an agent joins$/,
  },
  {
    rule: 'and no second beside it',
    workers: 'booting',
    facts: { queued: 3, isProbing: true },
    does: '',
    why: /on its way/,
  },
  // Shrinking.
  {
    rule: 'above max_idle workers go at once',
    workers: 'idle, idle, idle',
    scaling: { maxIdleSlots: 1, idleDecayMs: 3_600_000 },
    does: '-w0 -w1',
    why: /above max_idle 1: removing 2/,
    againAfterMs: 3_600_000,
  },
  {
    rule: 'max_idle is raised to min_idle plus slots less one',
    workers: 'idle 4/4',
    scaling: { minIdleSlots: 1, maxIdleSlots: 0, slotsPerAgent: 4 },
    does: '',
  },
  {
    rule: 'between min_idle and max_idle the first one waits for idle_decay',
    workers: 'idle, idle',
    scaling: { maxIdleSlots: 5 },
    does: '',
    why: /removing one worker after idle_decay 1m/,
    againAfterMs: MINUTE_MS,
  },
  {
    rule: 'after idle_decay one goes, and only one',
    workers: 'idle@200, idle@100',
    scaling: { maxIdleSlots: 5 },
    facts: { surplusSinceMs: NOW_MS - MINUTE_MS },
    does: '-w0',
    againAfterMs: MINUTE_MS,
  },
  {
    rule: 'an idle_decay of 0 takes all that may go',
    workers: 'idle, idle',
    scaling: { maxIdleSlots: 5, idleDecayMs: 0 },
    does: '-w0 -w1',
  },
  {
    rule: 'min_idle stays',
    workers: 'idle, idle',
    scaling: { minIdleSlots: 2, maxIdleSlots: 2, idleDecayMs: 0 },
    does: '',
  },
  { rule: 'min_agents stays', workers: 'idle, idle, idle', scaling: { minAgents: 2, idleDecayMs: 0 }, does: '-w0' },
  {
    rule: 'what the queue needs stays',
    workers: 'idle, idle',
    scaling: { idleDecayMs: 0 },
    facts: { queued: 1 },
    does: '-w0',
  },
  {
    rule: 'a removal that would have to be made good is not made',
    workers: 'idle 4/4, idle 4/4',
    scaling: { slotsPerAgent: 4, minIdleSlots: 5, maxIdleSlots: 6, idleDecayMs: 0 },
    does: '',
  },
  {
    rule: 'those not yet joined go first, the newest before the older',
    workers: 'idle@900, booting@60, launching@5',
    scaling: { maxIdleSlots: 1, idleDecayMs: 3_600_000 },
    does: '-w2 -w1',
  },
  {
    rule: 'then those that idle longest',
    workers: 'idle@10, idle@30, idle@20',
    scaling: { maxIdleSlots: 1, idleDecayMs: 3_600_000 },
    does: '-w1 -w2',
  },
  {
    rule: 'a worker with a session stays, however many of its slots are free',
    workers: 'busy 7/8',
    scaling: { idleDecayMs: 0 },
    does: '',
  },
  {
    rule: 'away, lost, draining and unknown workers are not removed',
    workers: 'returning, lost, draining, unknown',
    scaling: { idleDecayMs: 0 },
    does: '',
  },
  { rule: 'batch mode shrinks as any other', workers: 'idle', scaling: { mode: 'batch', idleDecayMs: 0 }, does: '-w0' },
  // The sync loop.
  { rule: 'an unknown machine is left alone by default', workers: 'unknown@999999', does: '' },
  {
    rule: 'an unknown machine goes after kill_unknown_after',
    workers: 'unknown@301, unknown@299',
    scaling: { killUnknownAfterMs: 300_000 },
    does: '-w0',
    why: /^1 stayed unknown for kill_unknown_after 5m: removing it/,
    againAfterMs: 1_000,
  },
  {
    rule: 'a lost one without sessions likewise',
    workers: 'lost@301',
    scaling: { killUnknownAfterMs: 300_000 },
    does: '-w0',
  },
  {
    rule: 'a lost one with sessions is never given up by time',
    workers: 'lost@9999999 0/1',
    scaling: { killUnknownAfterMs: 1 },
    facts: { lostAfterMs: 1 },
    does: '',
  },
  {
    rule: 'a lost one without sessions goes in the end',
    workers: 'lost@601',
    facts: { lostAfterMs: 600_000 },
    does: '-w0',
  },
  {
    rule: 'a machine that does not join within boot_timeout is replaced',
    workers: 'booting@901',
    facts: { queued: 1 },
    does: '-w0 +1',
    why: /did not join within boot_timeout 15m/,
  },
  {
    rule: 'but not while it fills the last place',
    workers: 'booting@901',
    scaling: { maxAgents: 1 },
    facts: { queued: 1 },
    does: '-w0',
  },
  {
    rule: 'a booting machine wakes the plan at its timeout',
    workers: 'booting@100',
    facts: { queued: 1 },
    does: '',
    againAfterMs: 800_000,
  },
  // When not to act at all.
  {
    rule: 'before the first listing nothing is done',
    workers: 'idle, idle, booting@9999',
    scaling: { minAgents: 5 },
    facts: { isReady: false, queued: 9 },
    does: '',
    why: /not been listed/,
  },
  {
    rule: 'except for what stayed unknown too long',
    workers: 'unknown@301',
    scaling: { killUnknownAfterMs: 300_000 },
    facts: { isReady: false },
    does: '-w0',
  },
  {
    rule: 'a paused pool does nothing',
    workers: 'idle, booting@9999',
    facts: { isPaused: true, queued: 9 },
    does: '',
    why: /Paused/,
  },
  {
    rule: 'a frozen pool does nothing',
    workers: 'idle, booting@9999',
    facts: { isFrozen: true, queued: 9 },
    does: '',
    why: /Frozen/,
  },
  { rule: 'a frozen pool is not even removed', workers: 'idle', facts: { isFrozen: true, isRemoving: true }, does: '' },
  {
    rule: 'a manual pool launches nothing and keeps its agents',
    workers: 'idle, idle',
    facts: { offers: [], queued: 9 },
    does: '',
    why: /manual pool/,
  },
  {
    rule: 'a pool that is removed loses what is free, and what is busy finishes',
    workers: 'idle, busy, booting, lost, unknown, lost 0/1',
    facts: { isRemoving: true, queued: 3 },
    does: '-w0 -w2 -w3',
    why: /3 workers are removed now, 2 with sessions finish first/,
  },
];

describe('plan', () => {
  it.each(ROWS)('$rule', check);

  it('says the same of the same figures at any time, so that reasons can be compared', () => {
    const early = plan(factsOf('booting@10, idle@10', { maxIdleSlots: 5 }));
    const late = plan(factsOf('booting@20, idle@20', { maxIdleSlots: 5 }, { surplusSinceMs: NOW_MS - 10_000 }));

    expect(late.why).toBe(early.why);
  });

  it('remembers since when there has been one too many, and forgets it when there is not', () => {
    const first = plan(factsOf('idle, idle', { maxIdleSlots: 5 }));
    const later = plan(factsOf('idle, idle', { maxIdleSlots: 5 }, { surplusSinceMs: NOW_MS - 1_000 }));
    const busy = plan(factsOf('busy, busy', { maxIdleSlots: 5 }, { surplusSinceMs: NOW_MS - 1_000 }));

    expect(first.surplusSinceMs).toBe(NOW_MS);
    expect(later.surplusSinceMs).toBe(NOW_MS - 1_000);
    expect(busy.surplusSinceMs).toBeUndefined();
  });

  it('shows the figures that it rests on', () => {
    const { figures } = plan(factsOf('idle, busy, lost', { minAgents: 1 }, { queued: 2 }));

    expect(figures).toMatchObject({ queued: 2, idle: 1, busy: 1, lost: 1, machines: 3, minAgents: 1, maxAgents: 5 });
  });

  it('shows what its workers cost in an hour and may cost, where prices are known', () => {
    const priced = plan(factsOf('idle $3, busy $2', { maxPricePerHour: 7 })).figures;
    const free = plan(factsOf('idle, busy')).figures;

    expect(priced).toMatchObject({ pricePerHour: 5, maxPricePerHour: 7 });
    expect(Object.keys(free).filter((name) => name.includes('rice'))).toEqual([]);
  });
});
