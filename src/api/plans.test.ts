import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { aPool } from '#core/testing/pool.ts';
import type { ChangePlan } from '../pools/pools.ts';
import { poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';
import type { PlannedChanges, PoolDocumentList } from './wire/plan.ts';

const gpu = poolWithSecret('gpu');
const offers = [{ id: 'o2', kind: 'process', config: { apiToken: 'planted-secret-too', plain: 'shown' } }];
const grown = { ...gpu, spec: { ...gpu.spec, offers, scaling: { ...gpu.spec.scaling, maxAgents: 9 } } };
const planned: ChangePlan = {
  pools: [
    { name: 'gpu', change: 'change', before: gpu, after: grown, why: 'Changed with planted-secret.' },
    { name: 'new', change: 'create', after: { ...gpu, id: 'nobody', name: 'new' }, why: 'Defined.' },
  ],
  unchanged: ['same'],
  refused: [
    {
      source: 'files',
      key: 'bad.yaml',
      fault: new Fault('invalid', 'No planted-secret here.', { at: 'line 3', remedy: 'Mend it.' }),
    },
  ],
};

async function planWorld(pool = gpu) {
  const asked: unknown[] = [];
  const world = await apiWorld({ rows: [row('pools', pool)] });
  Object.assign(world.deps.pools, {
    foresee: async (...words: unknown[]) => {
      asked.push(words);
      return planned;
    },
    foreseeSync: async (source: string) => {
      asked.push(source);
      return planned;
    },
  });
  Object.assign(world.deps.workers, {
    foresee: () => ({
      actions: [
        { do: 'launch', offer: 'o1', count: 3, why: 'w' },
        { do: 'drain', worker: 'm-1', why: 'it said planted-secret' },
        { do: 'remove', worker: 'm-2', why: 'w' },
        { do: 'remove', worker: 'm-3', why: 'w' },
      ],
      why: 'More is needed for planted-secret.',
      unless: '',
      figures: {},
      ...{ replaced: 4, awaited: 3, replacedAfterMs: 1_200_000, offers: [{ id: 'a', pricePerHour: 2 }] },
    }),
  });
  return { ...world, asked };
}

const body = { documents: [{ key: 'a.yaml', text: 'name: a' }] };
const json = { 'content-type': 'application/json' };

describe('POST /plans', () => {
  it('tells which keys differ, what the workers would do, and what is refused where; no secret among it', async () => {
    const { call, asked } = await planWorld();

    const answer = await call('POST', '/api/v1/plans', {
      as: 'operator',
      headers: json,
      payload: { ...body, source: 'files' },
    });

    expect(asked).toEqual([[body.documents, 'files']]);
    expect(answer.json<PlannedChanges>()).toMatchObject({
      pools: [
        {
          name: 'gpu',
          change: 'change',
          source: 'file',
          differences: [
            { key: 'auto_scaler.max_agents', before: 5, after: 9 },
            { key: 'auto_scaler.backend.process.apiToken' },
          ],
          workers: { start: 3, drain: 1, stop: 2, replace: 4 },
          next: 'More is needed for [hidden].',
        },
        { name: 'new', change: 'create', differences: [] },
      ],
      unchanged: ['same'],
      refused: [{ key: 'bad.yaml', fault: { kind: 'invalid', place: 'line 3', remedy: 'Mend it.' } }],
    });
    expect(answer.body).not.toContain('planted-secret');
  });

  it('warns beside a pool of limits that have no effect, in a plan and in the pool', async () => {
    const idle = aPool({ maxIdleSlots: 0 }, { name: 'idle' });
    const warnings = [expect.stringMatching(/^idle_decay 1m has no effect: with max_idle_agents 0 /)];
    const { call, deps } = await planWorld(idle);
    const created = { name: 'idle', change: 'create', after: idle, why: 'Defined.' } as const;
    Object.assign(deps.pools, { foresee: async () => ({ ...planned, pools: [created] }) });

    const plan = await call('POST', '/api/v1/plans', { as: 'operator', headers: json, payload: body });
    const shown = await call('GET', '/api/v1/pools/idle', { as: 'viewer' });

    expect(plan.json<PlannedChanges>().pools).toMatchObject([{ warnings }]);
    expect(shown.json()).toMatchObject({ warnings });
  });

  it('says what a policy comes to that launches a worker for each session, in a plan and in the pool alone', async () => {
    const trapped = aPool({ minIdleSlots: 2, maxIdleSlots: 2 }, { name: 'trapped' });
    const { call, deps } = await planWorld(trapped);
    const created = { name: 'trapped', change: 'create', after: trapped, why: 'Defined.' } as const;
    Object.assign(deps.pools, { foresee: async () => ({ ...planned, pools: [created] }) });
    Object.assign(deps.features, { foresight: { launchesASession: () => 0.98 } });

    const plan = await call('POST', '/api/v1/plans', { as: 'operator', headers: json, payload: body });
    const shown = await call('GET', '/api/v1/pools/trapped', { as: 'viewer' });
    const listed = await call('GET', '/api/v1/pools', { as: 'viewer' });

    const says = [expect.stringContaining('(the model expects 1.0 launches a session)')];
    expect(plan.json<PlannedChanges>().pools).toMatchObject([{ warnings: says }]);
    expect(shown.json()).toMatchObject({ warnings: says });
    expect(listed.body).not.toContain('the model expects');
    expect(listed.body).toContain('each session launches a worker');
  });

  it('does not let a viewer compare settings that a viewer may not see', async () => {
    const { call } = await planWorld();

    const answer = (await call('POST', '/api/v1/plans', { as: 'viewer', headers: json, payload: body })).json();

    expect(answer.pools.map(({ name }: { name: string }) => name)).toEqual(['new']);
    expect(answer.refused[1]).toMatchObject({ pool: 'gpu', fault: { kind: 'denied' } });
  });

  it('reads a source only for an operator', async () => {
    const { call, asked } = await planWorld();

    const refused = await call('POST', '/api/v1/sources/files/plan', { as: 'viewer' });
    const answered = await call('POST', '/api/v1/sources/files/plan', { as: 'operator' });

    expect([refused.statusCode, answered.statusCode]).toEqual([403, 200]);
    expect(asked).toEqual(['files']);
  });

  it('refuses a body without documents', async () => {
    const { call } = await planWorld();

    const answer = await call('POST', '/api/v1/plans', { headers: json, payload: {} });

    expect([answer.statusCode, answer.json().at]).toEqual([422, 'body.documents']);
  });
});

describe('GET /pool-documents', () => {
  it('lists definitions by name, and names what is left out of them', async () => {
    const removal = { at: 1, deadlineAt: 2, why: 'w' };
    const owner = { source: 'files', key: 'ml/a.yaml', version: '1' };
    const { call } = await apiWorld({
      rows: [
        row('pools', gpu),
        row('pools', poolWithSecret('a', { owner })),
        row('pools', poolWithSecret('gone', { removal })),
      ],
    });

    const all = (await call('GET', '/api/v1/pool-documents')).json<PoolDocumentList>();
    const one = (await call('GET', '/api/v1/pool-documents?name=gone')).json<PoolDocumentList>();

    expect(all.items.map(({ name, team }) => [name, team])).toEqual([
      ['a', 'ml'],
      ['gpu', undefined],
    ]);
    expect(all.items[1]).toMatchObject({
      document: { name: 'gpu', auto_scaler: { max_agents: 5 } },
      left_out: ['auto_scaler.backend.process.api_token'],
      refused_elsewhere: ['auto_scaler.backend.process: [hidden]'],
    });
    expect(one.items.map(({ name }) => name)).toEqual(['gone']);
    expect((await call('GET', '/api/v1/pool-documents?name=gpx')).statusCode).toBe(404);
  });

  it('says of one that cannot be written why, and goes on', async () => {
    const { call, deps } = await apiWorld({ rows: [row('pools', gpu), row('pools', poolWithSecret('odd'))] });
    deps.documents.check = ({ name }) => {
      if (name === 'odd') throw new Fault('unsupported', 'It cannot be written.');
    };

    const { items } = (await call('GET', '/api/v1/pool-documents')).json<PoolDocumentList>();

    expect(items.map(({ fault }) => fault?.kind)).toEqual([undefined, 'unsupported']);
    expect(items[1]?.document).toBeUndefined();
  });
});
