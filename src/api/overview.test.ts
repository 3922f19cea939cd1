import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { Computers } from '#core/computer.ts';
import { append, type Change } from '#core/store.ts';
import { nodesOfOne } from './testing/nodes.ts';
import { anAgent, aSession, aWorker, gone, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld, type WorldOptions } from './testing/world.ts';
import type { Overview } from './wire/overview.ts';

const at = Date.UTC(2026, 0, 1);
const gpu = poolWithSecret('gpu');
const troubled = (name: string): Change =>
  row(
    'pools',
    poolWithSecret(name, { spec: { ...gpu.spec, name, labels: { trouble: 'No quota for planted-secret.' } } }),
  );

async function overviewOf(options: WorldOptions = {}) {
  const world = await apiWorld(options);
  const see = async () => (await world.call('GET', '/api/v1/overview', { as: 'viewer' })).json<Overview>();
  return { ...world, see };
}

describe('GET /overview', () => {
  it('of a server with nothing to do has no problem and no sum', async () => {
    const { see } = await overviewOf();

    expect(await see()).toMatchObject({
      problems: [],
      more_problems: 0,
      workers: { total: 0, busy: 0, starting: 0 },
      sessions: { queued: 0, running: 0, unknown: 0 },
      longest_wait_ms: 0,
      dollars_per_hour: 0,
      machines_without_price: 0,
      pools: { total: 0, active: 0, manual: 0, paused: 0, removing: 0 },
      sources: { total: 0, in_error: 0, with_refused_documents: 0 },
    });
  });

  it('adds up workers by phase, sessions, the longest wait and the price of what runs', async () => {
    const { clock, see } = await overviewOf({
      rows: [
        row('pools', gpu),
        row('workers', aWorker('busy', gpu.id, { createdAt: at, joinedAt: at, pricePerHour: 0.1 })),
        row('workers', aWorker('idle', gpu.id, { createdAt: at, joinedAt: at, pricePerHour: 0.2 })),
        row('workers', aWorker('away', gpu.id, { createdAt: at, joinedAt: at })),
        row('workers', aWorker('asked', gpu.id)),
        row('workers', aWorker('slow', gpu.id, { createdAt: at, parked: { at } })),
        row('agents', anAgent('busy', gpu.id)),
        row('agents', anAgent('idle', gpu.id)),
        row('sessions', aSession('s1', gpu, { worker: 'busy', attempt: 1 })),
        row('sessions', aSession('s2', gpu, { worker: 'away', attempt: 1 })),
        row('sessions', aSession('s3', gpu, { acceptedAt: at - MINUTE_MS })),
        row('sessions', aSession('s4', gpu, { acceptedAt: at - 2 * MINUTE_MS, attempt: 1 })),
      ],
    });
    await clock.advance(0);

    expect(await see()).toMatchObject({
      workers: { total: 5, busy: 1, idle: 1, starting: 1, draining: 0, lost: 1, parked: 1, deleting: 0 },
      sessions: { queued: 2, running: 1, unknown: 1 },
      longest_wait_ms: 2 * MINUTE_MS,
      dollars_per_hour: 0.3,
      machines_without_price: 2,
      pools: { total: 1, active: 1 },
    });
  });

  it('names what is wrong with since when, a remedy and where to look, the most urgent first, and no secret', async () => {
    const { see } = await overviewOf({
      rows: [
        troubled('gpu'),
        troubled('cpu'),
        row('sessions', aSession('s1', poolWithSecret('cpu'))),
        row('freezes', { id: 'fleet', at, why: '40 agents are away.', by: 'muster', automatic: true }),
        row('sources', {
          ...{ id: 'ssm', kind: 'aws', held: { at: at + 2, why: 'More than half.', keys: ['a', 'b'] } },
          fault: { kind: 'denied', message: 'AccessDenied', at: at + 1 },
        }),
        row('sources', { id: 'teams', kind: 'file' }),
        row('documents', {
          id: 'ssm\nx',
          source: 'ssm',
          key: 'x',
          version: '1',
          missed: 0,
          fault: { kind: 'invalid', message: 'line 1: No name.' },
        }),
      ],
      over: { server: { ...(await apiWorld()).deps.server, whyNotReady: () => 'the disk is full' } },
    });

    const { problems, sources } = await see();

    expect(problems.map(({ subject, link }) => [subject, link])).toEqual([
      ['server', '/settings'],
      ['fleet', '/workers'],
      ['pool/cpu', '/pools/cpu'],
      ['pool/gpu', '/pools/gpu'],
      ['source/ssm', '/sources/ssm'],
      ['source/ssm', '/sources/ssm'],
      ['source/ssm', '/sources/ssm'],
    ]);
    expect(problems[0]).toMatchObject({ what: 'The server takes no new work: the disk is full' });
    expect(problems[1]).toMatchObject({
      what: 'The fleet is frozen by the guard against mass loss: 40 agents are away.',
      remedy: 'It ends when the agents are back. To end it now, run `muster thaw`.',
      since: '2026-01-01T00:00:00.000Z',
    });
    expect(problems[2]).toMatchObject({
      what: 'No quota for [hidden].',
      remedy: 'Raise the limit of the account or of the pool.',
      since: '2026-01-01T00:00:00.000Z',
      waiting_sessions: 1,
    });
    expect(problems.slice(4).map(({ what, remedy }) => [what, remedy])).toEqual([
      ['Refused: x: line 1: No name.', 'Correct what `muster source show ssm` names.'],
      ['It cannot be read: denied: AccessDenied', 'Correct the credentials or their rights.'],
      [
        'It no longer defines 2 pools, whose removal waits for approval. More than half.',
        'Define them again, or remove them: `muster source approve ssm --pools 2`.',
      ],
    ]);
    expect(sources).toEqual({ total: 2, in_error: 1, with_refused_documents: 1 });
  });

  it('names failed computers, runtimes in error and node provisioners that are not served', async () => {
    const [pool] = nodesOfOne.list();
    const nodes = { ...nodesOfOne, list: () => (pool ? [{ ...pool, isReady: false, message: 'No account.' }] : []) };
    const { see } = await overviewOf({
      rows: [
        row('computers', {
          ...{
            id: 'c1',
            name: 'dev',
            platform: 'aws',
            offer: { id: 'o', kind: 'process', config: {} },
            port: 1,
            timeoutMs: 1,
          },
          ...{
            maxRetries: 1,
            createdAt: at,
            by: 'x',
            refusals: 1,
            failure: { kind: 'quota', message: 'Refused.', at },
          },
        }),
        row('runtimes', {
          ...{ id: 'r1', provisioner: 'p', slots: 1, environment: 'prod', annotations: {}, createdAt: at, since: at },
          ...{ wanted: 'running', phase: 'error', why: 'It does not answer.' },
        }),
      ],
      over: { features: { nodes, computers: {} as Computers } },
    });

    const { problems, computers, runtimes, nodes: tally } = await see();

    expect(problems.map(({ subject, what, link }) => [subject, what, link])).toEqual([
      ['node-provisioner/h100', 'No account.', '/nodes/h100'],
      ['computer/dev', 'Refused.', '/computers/dev'],
      ['runtime/r1', 'It does not answer.', '/runtimes/r1'],
    ]);
    expect([computers, runtimes, tally]).toEqual([{ total: 1, in_error: 1 }, undefined, { total: 1, in_error: 1 }]);
  });

  it('stays below 20 KB with the longest of everything, and counts what it leaves out', async () => {
    const long = 'é'.repeat(400);
    const spec = { ...gpu.spec, labels: { trouble: `No quota. ${long}` } };
    const { call } = await overviewOf({
      rows: Array.from({ length: 1_000 }, (_, n) => {
        const name = `${'n'.repeat(60)}-${n}`;
        return row('pools', poolWithSecret(name, { spec: { ...spec, name } }));
      }).concat(
        Array.from({ length: 30 }, (_, n) =>
          append('events', {
            id: `x${n}`,
            at,
            kind: 'pool.changed',
            subject: 'pool/x',
            who: 'token:ci',
            from: '10.0.0.1',
            message: long,
          }),
        ),
      ),
    });

    const answer = await call('GET', '/api/v1/overview');
    const { problems, more_problems, events } = answer.json<Overview>();

    expect(answer.rawPayload.byteLength).toBeLessThanOrEqual(20_000);
    expect(problems.length + more_problems).toBe(1_000);
    expect(problems.length).toBeGreaterThan(10);
    expect(events).toHaveLength(10);
  });

  it('is computed at most once a second, and shows what changed since', async () => {
    const { deps, clock, see } = await overviewOf({ rows: [row('pools', gpu)] });

    const first = await see();
    await deps.store.commit([row('workers', aWorker('m1', gpu.id))]);
    const same = await see();
    await clock.advance(1_000);
    const later = await see();
    await deps.store.commit([gone('workers', 'm1')]);
    await clock.advance(10 * MINUTE_MS);
    const muchLater = await see();

    expect([first, same, later, muchLater].map(({ workers }) => workers.total)).toEqual([0, 0, 1, 0]);
    expect(same.at).toBe(first.at);
  });
});
