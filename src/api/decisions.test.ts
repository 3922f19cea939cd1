import { expect, it } from 'vitest';
import type { DecisionRow } from '#core/journal.ts';
import { append } from '#core/store.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { DecisionList } from './wire/decision.ts';

const gpu = poolWithSecret('gpu');
const decision = (id: string, over: Partial<DecisionRow> = {}): DecisionRow => ({
  id,
  at: 0,
  subject: `pool/${gpu.id}`,
  did: 'nothing',
  reason: { code: 'max-agents', with: { maxAgents: 5 } },
  why: 'At max_agents 5.',
  facts: { maxAgents: 5 },
  ...over,
});

async function world() {
  const old = { ...decision('d1'), reason: undefined };
  return apiWorld({
    rows: [
      row('pools', gpu),
      append('decisions', old),
      append(
        'decisions',
        decision('d2', { alternatives: [{ what: 'launch 1 more', whyNot: 'max_agents 5 is reached' }] }),
      ),
      append('decisions', decision('d3', { inputs: '{"v":1}' })),
      append('decisions', decision('d4', { subject: 'budget/team', did: 'warn', reason: { code: 'spent' } })),
    ],
  });
}

it('lists the decisions of every subject, newest first, page by page', async () => {
  const { call } = await world();

  const first = (await call('GET', '/api/v1/decisions?limit=2')).json<DecisionList>();
  const second = (await call('GET', `/api/v1/decisions?limit=2&after=${first.next}`)).json<DecisionList>();

  expect(first.items.map(({ id, subject }) => [id, subject])).toEqual([
    ['d4', 'budget/team'],
    ['d3', `pool/${gpu.id}`],
  ]);
  expect(second.items.map(({ id }) => id)).toEqual(['d2', 'd1']);
  expect(second.next).toBeUndefined();
});

it('shows one decision by its id', async () => {
  const { call } = await world();

  expect((await call('GET', '/api/v1/decisions/d3')).json()).toMatchObject({
    ...{ id: 'd3', inputs: '{"v":1}', pool: 'gpu' },
  });
});

it('says where decisions are listed when one is not kept any more', async () => {
  const { call } = await world();

  const answer = await call('GET', '/api/v1/decisions/d9');

  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({
    at: 'path.decision',
    detail: 'There is no decision d9.',
    remedy: expect.stringContaining('GET /decisions'),
  });
});

it.each(['pool/gpu', `pool/${gpu.id}`])(
  'finds the decisions of the pool %s with reason and alternatives',
  async (subject) => {
    const { call } = await world();

    const { items } = (await call('GET', `/api/v1/decisions?order=oldest&subject=${subject}`)).json<DecisionList>();

    expect(items.map(({ id }) => id)).toEqual(['d1', 'd2', 'd3']);
    expect(items[0]).toMatchObject({ why: 'At max_agents 5.', facts: { max_agents: 5 } });
    expect(items[0]?.reason).toBeUndefined();
    expect(items[1]).toMatchObject({
      reason: { code: 'max-agents', with: { max_agents: 5 } },
      alternatives: [{ what: 'launch 1 more', why_not: 'max_agents 5 is reached' }],
    });
    expect(items[2]?.inputs).toBe('{"v":1}');
  },
);
