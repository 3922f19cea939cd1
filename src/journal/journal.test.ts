import { expect, it } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { type DecisionRow, SELF } from '#core/journal.ts';
import { silentLog } from '#core/log.ts';
import type { Pool } from '#core/pool.ts';
import { seededRandom } from '#core/random.ts';
import { append, type Change, drop, HISTORIES, put } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { type JournalDeps, type NewDecision, startJournal } from './journal.ts';
import { makeRedactor } from './redact.ts';

async function setUp(options: Pick<JournalDeps, 'retention' | 'redactor'> = {}) {
  const clock = new VirtualClock();
  const disk = emptyDisk();
  const store = await openStore(memoryDriver(disk), () => {});
  const journal = startJournal({ store, clock, random: seededRandom(1), log: silentLog, ...options });
  return { clock, disk, store, journal };
}

const rowOf = <T>(change: Change | undefined): T => (change as unknown as { row: T }).row;
const decision = (over: Partial<NewDecision> = {}): NewDecision => ({
  subject: 'pool/p1',
  did: 'nothing',
  reason: { code: 'enough' },
  why: 'Enough idle slots.',
  facts: { idle: 2 },
  ...over,
});

it('tells of an event who caused it, from where, and when', async () => {
  const { clock, disk, store, journal } = await setUp();
  const actor = { who: 'token:ci', from: '10.0.0.7' };

  await store.commit([
    journal.event({ kind: 'pool.created', subject: 'pool/a', pool: 'p1', message: 'Created.' }, actor),
    journal.event({ kind: 'pool.changed', subject: 'pool/a', message: 'Changed.' }),
  ]);

  const [first, second] = disk.histories.events;
  expect(first).toMatchObject({ kind: 'pool.created', pool: 'p1', who: 'token:ci', from: '10.0.0.7', at: clock.now() });
  expect(second).toMatchObject({ who: SELF.who, from: SELF.from });
  expect((first?.id ?? '') < (second?.id ?? '')).toBe(true);
});

it('keeps secrets out of events, in messages and in fields', async () => {
  const { journal } = await setUp({ redactor: makeRedactor(['planted-secret']) });

  const change = journal.event({
    kind: 'x.done',
    subject: 'x/1',
    message: 'used planted-secret',
    fields: { token: 'abc', note: 'planted-secret' },
  });

  expect(JSON.stringify(change)).not.toMatch(/planted|abc/);
});

it('stores a decision that acts each time', async () => {
  const { journal } = await setUp();

  expect(journal.decision(decision({ did: 'launch 1' }), true)).toBeDefined();
  expect(journal.decision(decision({ did: 'launch 1' }), true)).toBeDefined();
});

it('stores an idle decision once, counts its repeats, and stores the next reason', async () => {
  const { clock, journal } = await setUp();

  const first = journal.decision(decision(), false);
  await clock.advance(1_000);
  const second = journal.decision(decision({ facts: { idle: 3 } }), false);
  await clock.advance(1_000);
  const third = journal.decision(decision(), false);
  const counted = journal.lastDecision('pool/p1');
  const fourth = journal.decision(decision({ reason: { code: 'paused' }, why: 'Paused.' }), false);

  expect(first).toBeDefined();
  expect([second, third]).toEqual([undefined, undefined]);
  expect(counted).toEqual({ decision: rowOf(first), repeats: 2, lastAt: clock.now() });
  expect(fourth).toBeDefined();
  expect(journal.lastDecision('pool/p1')).toMatchObject({ repeats: 0, decision: { why: 'Paused.' } });
});

it('remembers what was last done, also after decisions to do nothing', async () => {
  const { clock, journal } = await setUp();
  journal.decision(decision({ did: 'launch 1', why: 'Demand.' }), true);
  const at = clock.now();
  await clock.advance(1_000);

  journal.decision(decision(), false);

  expect(journal.lastDecision('pool/p1')).toMatchObject({
    decision: { did: decision().did },
    lastAction: { did: 'launch 1', why: 'Demand.', at },
  });
});

it('remembers the first wait of a subject without storing it, and nothing in place of a decision', async () => {
  const { journal } = await setUp();

  const isNoted = journal.noteWait(decision({ why: 'Not listed yet.' }));
  const shown = journal.lastDecision('pool/p1')?.decision.why;
  const repeated = journal.decision(decision({ why: 'Not listed yet.' }), false);
  const next = journal.decision(decision({ reason: { code: 'paused' } }), false);

  expect([isNoted, shown, repeated]).toEqual([true, 'Not listed yet.', undefined]);
  expect(next).toBeDefined();
  expect(journal.noteWait(decision())).toBe(false);
});

it('counts an idle decision whose figures alone changed, and shows the newest', async () => {
  const { journal } = await setUp();

  const reason = { code: 'max-agents', with: { maxAgents: 5 } };
  const first = journal.decision(decision({ reason, why: '3 queued, but the pool is at max_agents 5.' }), false);
  const second = journal.decision(decision({ reason, why: '12 queued, but the pool is at max_agents 5.' }), false);

  expect(first).toBeDefined();
  expect(second).toBeUndefined();
  expect(journal.lastDecision('pool/p1')).toMatchObject({
    repeats: 1,
    decision: { why: expect.stringMatching(/^12/) },
  });
});

it.each([
  ['another sentence', { why: 'Enough idle slots still.' }],
  ['another remedy', { unless: 'you raise min_idle' }],
  ['another figure', { facts: { idle: 3 } }],
  ['one figure more', { facts: { idle: 2, busy: 1 } }],
  ['one figure less', { facts: {} }],
  ['an alternative', { alternatives: [{ what: 'remove one', whyNot: 'it is at work' }] }],
])('shows %s of an idle decision that it only counts', async (_what, over: Partial<NewDecision>) => {
  const { journal } = await setUp();

  journal.decision(decision(), false);
  journal.decision(decision(over), false);

  expect(journal.lastDecision('pool/p1')).toMatchObject({ repeats: 1, decision: over });
  expect(journal.lastDecision('pool/p1')?.decision.facts).toEqual(over.facts ?? { idle: 2 });
});

it.each([
  ['another code', { reason: { code: 'max-price', with: { maxAgents: 5 } } }],
  ['another setting', { reason: { code: 'max-agents', with: { maxAgents: 50 } } }],
  ['one more setting', { reason: { code: 'max-agents', with: { maxAgents: 5, offers: 'a' } } }],
  ['a further reason', { also: [{ code: 'outdated-kept' }] }],
  ['another action', { did: 'launch 1' }],
])('stores an idle decision with %s, though its sentence is the same', async (_what, over) => {
  const { journal } = await setUp();
  const before = decision({ reason: { code: 'max-agents', with: { maxAgents: 5 } } });

  journal.decision(before, false);

  expect(journal.decision(before, false)).toBeUndefined();
  expect(journal.decision({ ...before, ...over }, false)).toBeDefined();
});

it('writes the inputs of a decision only when it is stored, without secrets', async () => {
  const { journal } = await setUp({ redactor: makeRedactor(['planted-secret']) });
  let written = 0;
  const inputs = (redactText: (text: string) => string): string => {
    written += 1;
    return JSON.stringify({ why: redactText('said "planted-secret"') });
  };
  const alternatives = [{ what: 'launch 1', whyNot: 'it said planted-secret' }];

  const first = journal.decision(decision({ alternatives }), false, inputs);
  journal.decision(decision({ alternatives }), false, inputs);

  expect(written).toBe(1);
  expect(rowOf<DecisionRow>(first).inputs).toBe('{"why":"said \\"[hidden]\\""}');
  expect(JSON.stringify([first, journal.lastDecision('pool/p1')])).not.toMatch(/planted/);
});

it('counts for each subject apart, and forgets a pool that is gone', async () => {
  const { store, journal } = await setUp();
  const owner = { source: 's', key: 'k', version: '1' };
  const pool = { id: 'p1', name: 'a', spec: { offers: [] }, owner } as unknown as Pool;
  await store.commit([put('pools', pool)]);
  journal.decision(decision(), false);

  expect(journal.decision(decision({ subject: 'pool/p2' }), false)).toBeDefined();
  await store.commit([drop('pools', 'p1')]);

  expect(journal.lastDecision('pool/p1')).toBeUndefined();
  expect(journal.lastDecision('pool/p2')).toBeDefined();
});

it('forgets each history after its own retention, and no earlier', async () => {
  const { clock, disk, store, journal } = await setUp();
  const chunk = {
    session: 's',
    attempt: 1,
    seq: 1,
    stream: 'stdout',
    at: clock.now(),
    data: new Uint8Array(),
  } as const;
  await store.commit([
    journal.event({ kind: 'x.done', subject: 'x/1', message: 'x' }),
    journal.decision(decision(), true) as Change,
    append('output', chunk),
  ]);
  const sizes = () => [disk.histories.events.length, disk.histories.decisions.length, disk.histories.output.length];

  await clock.advance(7 * DAY_MS - 1);
  expect(sizes()).toEqual([1, 1, 1]);
  await clock.advance(DAY_MS);
  expect(sizes()).toEqual([1, 1, 0]);
  await clock.advance(7 * DAY_MS);
  expect(sizes()).toEqual([1, 0, 0]);
  await clock.advance(17 * DAY_MS);
  expect(sizes()).toEqual([0, 0, 0]);

  await journal.stop();
});

it('forgets a long history in bounded steps, and leaves alone what is kept for ever', async () => {
  const { clock, disk, store, journal } = await setUp({
    retention: { events: DAY_MS, output: Number.POSITIVE_INFINITY },
  });
  const asked: number[] = [];
  const names = new Set<string>();
  const forget = store.history.forget;
  store.history.forget = (name, before, limit) => {
    names.add(name);
    if (name === 'events') asked.push(limit);
    return forget(name, before, limit);
  };
  const changes = Array.from({ length: 2_500 }, () => journal.event({ kind: 'x.done', subject: 'x/1', message: 'x' }));
  await store.commit(changes);

  await clock.advance(2 * DAY_MS);

  expect(disk.histories.events).toHaveLength(0);
  expect(Math.max(...asked)).toBeLessThanOrEqual(1_000);
  expect([...names, 'output'].toSorted()).toEqual(Object.keys(HISTORIES).toSorted());
  await journal.stop();
});
