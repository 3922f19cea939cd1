import { describe, expect, it } from 'vitest';
import type { DecisionRow } from '#core/journal.ts';
import { append } from '#core/store.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import { writeFacts } from '../autoscaler/inputs.ts';
import { type Facts, type Plan, plan } from '../autoscaler/plan.ts';
import { factsOf } from '../autoscaler/testing/check.ts';
import { replayDecision, replayPage } from './replay.ts';

/** As the journal stores it. */
function recorded(nth: number, facts: Facts, over: Partial<DecisionRow> = {}): DecisionRow {
  const { did, reason, also, why, unless, alternatives, figures } = plan(facts);
  const id = `d${String(nth).padStart(5, '0')}`;
  const row = { id, at: nth, subject: 'pool/a', did, reason, also, why, unless, alternatives, facts: figures } as const;
  return JSON.parse(JSON.stringify({ ...row, inputs: writeFacts(facts), ...over })) as DecisionRow;
}

const idle = (queued: number): Facts => factsOf('idle, busy 1/4', { maxAgents: 3 }, { queued });
/** The same planner but for one rule: it launches one worker more. */
const launchesOneMore = (facts: Facts): Plan => plan({ ...facts, queued: facts.queued + (facts.queued > 4 ? 1 : 0) });

async function page(rows: readonly DecisionRow[], options: Partial<Parameters<typeof replayPage>[1]> = {}) {
  const store = await openStore(memoryDriver(emptyDisk()), () => {});
  await store.commit(rows.map((row) => append('decisions', row)));
  return replayPage({ store, clock: new VirtualClock() }, { after: '', ...options });
}

describe('a recorded decision, computed again', () => {
  it('is the same as it was', () => {
    expect(replayDecision(recorded(1, idle(2)))).toMatchObject({ is: 'same', computed: { did: 'nothing' } });
  });

  it.each([
    ['did', { did: 'launch 9' }],
    ['reason', { reason: { code: 'max-agents', with: { maxAgents: 9 } } }],
    ['also', { also: [{ code: 'outdated' }] }],
    ['why', { why: 'Because.' }],
    ['unless', { unless: 'it rains' }],
    ['facts', { facts: { ...plan(idle(2)).figures, queued: 3 } }],
    ['alternatives', { alternatives: [{ what: 'launch 1', whyNot: 'no' }] }],
  ] satisfies [string, Partial<DecisionRow>][])('differs where its %s is another', (part, over) => {
    expect(replayDecision(recorded(1, idle(2), over))).toMatchObject({ is: 'different', parts: [part] });
  });

  it('is distinguished from one that was recorded without inputs, and from one that cannot be read', () => {
    const { inputs: _, ...without } = recorded(1, idle(2));
    const newer = recorded(1, idle(2), { inputs: '{"v":99}' });

    expect(replayDecision(without)).toEqual({ is: 'without-inputs' });
    expect(replayDecision(newer)).toMatchObject({
      is: 'unreadable',
      fault: { kind: 'unsupported', message: expect.stringContaining('version 99') },
    });
  });
});

describe('a page of records', () => {
  it('counts what is the same, and leaves out what is not about a pool', async () => {
    const rows = [recorded(1, idle(0)), recorded(2, idle(9)), recorded(3, idle(0), { subject: 'budget/team' })];

    expect(await page(rows)).toMatchObject({
      decisions: 2,
      counts: { same: 2, different: 0, unreadable: 0, 'without-inputs': 0 },
      fromMs: 1,
      untilMs: 2,
      next: undefined,
    });
  });

  it('shows the first decision that another rule would have made otherwise', async () => {
    const rows = [0, 3, 5, 9].map((queued, at) => recorded(at, idle(queued)));
    const { different, counts } = await page(rows, { planner: launchesOneMore });

    expect(counts).toMatchObject({ same: 2, different: 2 });
    expect(different).toMatchObject({ recorded: { id: 'd00002' }, parts: ['why', 'facts', 'alternatives'] });
  });

  it('can be of one pool, and says after which record the next page starts', async () => {
    const rows = Array.from({ length: 501 }, (_, at) => recorded(at, idle(at % 9)));
    const other = recorded(600, idle(1), { subject: 'pool/b' });
    const first = await page([...rows, other], { subject: 'pool/a' });

    expect([first.decisions, first.next]).toEqual([500, 'd00499']);
    const next = await page([...rows, other], { subject: 'pool/a', after: 'd00499' });
    expect([next.decisions, next.next]).toEqual([1, undefined]);
  });
});
