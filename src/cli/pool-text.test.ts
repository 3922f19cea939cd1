import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Decision } from '../api/wire/decision.ts';
import type { Pool, Why } from '../api/wire/pool.ts';
import { foldDecisions, planText, poolFacts, whyText } from './pool-text.ts';

const decision = (second: number, did: string, over: Partial<Decision> = {}): Decision => ({
  id: `d${second}`,
  at: `2026-01-01T00:00:${String(second).padStart(2, '0')}.500Z`,
  did,
  why: `Because of ${did}.`,
  facts: { queued: 0, idle: 1, is_ready: true, is_frozen: false },
  ...over,
});

const why = (...decisions: Decision[]): Why => ({
  pool: 'gpu',
  phase: 'active',
  counts: { queued: 0, idle: 1, starting: 0 },
  starting: [],
  decisions,
});

test('equal neighbours are one, with how often', () => {
  const runs = foldDecisions([
    decision(9, 'launch 1', { repeats: 2 }),
    decision(8, 'launch 1'),
    decision(7, 'nothing'),
  ]);

  expect(runs.map(({ newest, times }) => [newest.id, times])).toEqual([
    ['d9', 4],
    ['d7', 1],
  ]);
});

test('why shows the codes of the reasons, and what was not done', () => {
  const newest = decision(9, 'launch 1', {
    reason: { code: 'max-agents', with: { max_agents: 5 } },
    also: [{ code: 'outdated-kept' }],
    alternatives: [{ what: 'launch 2 from backend b', why_not: 'its max_agents 3 is reached', price_per_hour: 1.5 }],
  });

  const lines = stripVTControlCharacters(whyText(why(newest))).split('\n');

  expect(lines).toContain('  reason: max-agents (max_agents=5); outdated-kept');
  expect(lines).toContain('  instead: launch 2 from backend b at 1.5/h? No: its max_agents 3 is reached');
});

test('why counts decisions with the same reason, whatever their figures', () => {
  const reason = { code: 'max-agents', with: { max_agents: 5 } };

  const runs = foldDecisions([
    decision(9, 'nothing', { reason, why: '3 queued' }),
    decision(8, 'nothing', { reason, why: '2 queued' }),
    decision(7, 'nothing', { reason: { ...reason, with: { max_agents: 50 } }, why: '2 queued' }),
  ]);

  expect(runs.map(({ times }) => times)).toEqual([2, 1]);
});

test('why shows the newest decision whole and the others in a line each', () => {
  const newest = decision(9, 'nothing', { unless: 'a session comes', repeats: 1, last_at: '2026-01-01T00:00:12.000Z' });

  expect(stripVTControlCharacters(whyText(why(newest, decision(3, 'launch 1')))).split('\n')).toEqual([
    '2026-01-01 00:00:12Z  nothing  Because of nothing. (2 times)',
    '  changes if: a session comes',
    '  figures: idle_workers=1, is_ready=true',
    '2026-01-01 00:00:03Z  launch 1  Because of launch 1.',
  ]);
});

test('why says so where nothing was decided yet, and where the pool is frozen', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const frozen = { scope: 'gpu', at, why: 'by hand', by: 'token:ci', automatic: false, thaw: 'muster thaw -p gpu' };
  const fleet = { ...frozen, scope: 'fleet', thaw: 'muster thaw' };

  expect(whyText(why())).toBe('No decision yet.');
  expect(whyText({ ...why(decision(1, 'nothing')), frozen })).toMatch(
    /^Frozen since .* by token:ci: by hand\. To thaw it, run `muster thaw -p gpu`\.\n/,
  );
  expect(whyText({ ...why(decision(1, 'nothing')), frozen: fleet })).toMatch(
    /^The fleet is frozen since .* by token:ci: by hand\. To thaw it, run `muster thaw`\.\n/,
  );
});

test('why names what keeps the pool from machines and agents', () => {
  const trouble = 'container agent ends again and again';

  expect(whyText({ ...why(decision(1, 'nothing')), trouble })).toMatch(
    /^Trouble: container agent ends again and again\n/,
  );
});

test('a plan says what it would do, why, and when it looks again', () => {
  const plan = { pool: 'gpu', why: 'One waits.', unless: 'it ends', figures: {}, again_after: '28s' };
  const actions = [
    { do: 'launch' as const, count: 2, why: '2 queued' },
    { do: 'remove' as const, worker: 'm-1', why: 'idle' },
  ];

  expect(planText({ ...plan, actions })).toBe(
    'launch 2: 2 queued\nremove m-1: idle\nOne waits.\nChanges if: it ends\nNext pass in 28s.',
  );
  expect(planText({ ...plan, actions: [] })).toMatch(/^The next pass would do nothing\.\n/);
});

test('a pool says in one line what keeps it from its machines', () => {
  const trouble = 'quota: ec2:RunInstances in us-west-2 failed: VcpuLimitExceeded. Raise the vCPU quota.';
  const counts = { launching: 0, booting: 0, idle: 0, busy: 0, draining: 0, lost: 0, deleting: 0, parked: 0, total: 0 };
  const pool = {
    name: 'gpu',
    phase: 'active',
    trouble,
    owner: { source: 'ssm', key: '/velda/pools/gpu', version: '1' },
    workers: counts,
    slots: { total: 0, free: 0 },
    sessions: { queued: 1, placed: 0 },
    auto_scaler: { min_agents: 0, max_agents: 3, min_idle_agents: 0, max_idle_agents: 1, idle_decay: '1m' },
    backends: [],
    labels: {},
  } as unknown as Pool;

  expect(stripVTControlCharacters(poolFacts(pool)).split('\n')).toContainEqual(
    expect.stringMatching(new RegExp(`^Trouble +${trouble}$`)),
  );
  const warned = { ...pool, warnings: ['idle_decay 5m has no effect.'] };
  expect(stripVTControlCharacters(poolFacts(warned))).toMatch(/^Warning +idle_decay 5m has no effect\.$/m);
  expect(poolFacts(pool)).not.toContain('Warning');
});

test('why says that the removal of the pool is held, that the pool goes on, and how to approve it', () => {
  const approve = 'muster source approve team --pools 6';
  const held = { at: '2026-01-01T00:00:00.000Z', why: 'The last listings lack 6 of the 10 pools.', approve };

  const [line] = stripVTControlCharacters(whyText({ ...why(decision(9, 'nothing')), held })).split('\n');

  expect(line).toBe(
    `Its removal is held since 2026-01-01 00:00:00Z: its source no longer defines it. The last listings lack 6 of the 10 pools. The pool goes on as defined. To remove it with all that is held, run \`${approve}\`.`,
  );
});

test('why counts workers that start apart from idle ones, and says what holds them', () => {
  const waits = '0/3 nodes are available: 3 Insufficient nvidia.com/gpu.';
  const since = '2026-01-01T00:00:00.000Z';
  const starting = ['m-1', 'm-2'].map((worker) => ({ worker, since, waits }));

  const text = whyText({ ...why(decision(9, 'nothing')), counts: { queued: 1, idle: 0, starting: 2 }, starting });

  expect(stripVTControlCharacters(text).split('\n').slice(0, 2)).toEqual([
    '1 queued, 0 idle, 2 starting',
    `  m-1 and 1 more, since 2026-01-01 00:00:00Z: ${waits}`,
  ]);
});
