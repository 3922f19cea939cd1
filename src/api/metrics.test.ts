import { describe, expect, it } from 'vitest';
import type { Pool } from '#core/pool.ts';
import { poolSubject } from '#core/reason.ts';
import type { HostStatus, Runtime, Runtimes } from '#core/runtime.ts';
import { append, type Change } from '#core/store.ts';
import { anAgent, aSession, aWorker, gone, poolWithSecret, row } from './testing/rows.ts';
import { apiWorld } from './testing/world.ts';

const gpu = poolWithSecret('gpu');

/** The value of one series of a scrape. */
const figure = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
};

const fault = { kind: 'invalid', message: 'No name.' } as const;

describe('metrics', () => {
  it('give a source that was never read an age from the start of the server', async () => {
    const { call, deps, clock } = await apiWorld({ rows: [row('sources', { id: 'ssm', kind: 'aws' })] });
    deps.metrics.followSyncs(() => new Map([['ssm', { everyMs: 1, failures: 4 }]]));
    await clock.advance(240_000);

    const { body } = await call('GET', '/metrics', { as: 'viewer' });

    expect(figure(body, 'muster_source_sync_age_seconds{source="ssm"}')).toBe(240);
  });

  it('count the fleet at the time of the scrape, also under the names that others know', async () => {
    const { call, deps } = await apiWorld({
      rows: [
        row('pools', gpu),
        row('workers', aWorker('m-1', gpu.id, { joinedAt: 1 })),
        row('workers', aWorker('m-2', gpu.id)),
        row('agents', anAgent('m-1', gpu.id, 3)),
        row('sessions', aSession('s1', gpu, { worker: 'm-1' })),
        row('sessions', aSession('s2', gpu)),
        row('sources', { id: 'ssm', kind: 'aws', held: { at: 1, why: 'w', keys: ['a'] } }),
        row('documents', { id: 'ssm\na', source: 'ssm', key: 'a', version: '1', missed: 0 }),
        row('documents', { id: 'ssm\nb', source: 'ssm', key: 'b', version: '1', missed: 0, fault }),
      ],
    });
    const lastGoodAt = Date.UTC(2026, 0, 1) - 30_000;
    deps.metrics.followSyncs(() => new Map([['ssm', { everyMs: 1, lastGoodAt, durationMs: 250, failures: 2 }]]));

    const answer = await call('GET', '/metrics', { as: 'viewer' });
    await deps.store.commit([gone('workers', 'm-2')]);
    const later = (await call('GET', '/metrics')).body;

    const is = (series: string) => figure(answer.body, series);
    expect(answer.headers['content-type']).toContain('text/plain; version=0.0.4');
    expect(is(`muster_build_info{version="0.0.0-test",commit="abc",node="${process.version}"}`)).toBe(1);
    expect(is('muster_workers{pool="gpu",phase="busy"}')).toBe(1);
    expect(is('muster_workers{pool="gpu",phase="launching"}')).toBe(1);
    expect(is('muster_sessions{phase="queued"}')).toBe(1);
    expect(is('muster_queued_sessions{pool="gpu"}')).toBe(1);
    expect(is('muster_source_sync_age_seconds{source="ssm"}')).toBe(30);
    expect(is('muster_source_sync_age_seconds{source="api"}')).toBeUndefined();
    expect(is('muster_source_sync_seconds{source="ssm"}')).toBe(0.25);
    expect(is('muster_source_sync_failures{source="ssm"}')).toBe(2);
    expect(is('muster_source_documents{source="ssm"}')).toBe(2);
    expect(is('muster_source_faulty_documents{source="ssm"}')).toBe(1);
    expect(is('muster_source_held{source="ssm"}')).toBe(1);
    expect(is('velda_autoscaler_workers{pool="gpu",status="running"}')).toBe(1);
    expect(is('velda_autoscaler_workers{pool="gpu",status="pending"}')).toBe(1);
    expect(is('velda_autoscaler_worker_slots{pool="gpu",kind="available"}')).toBe(2);
    expect(is('velda_autoscaler_worker_slots{pool="gpu",kind="requested"}')).toBe(1);
    expect(figure(later, 'muster_workers{pool="gpu",phase="launching"}')).toBeUndefined();
  });

  it('count decisions by closed lists, so that no text makes a series of its own', async () => {
    const { call, deps } = await apiWorld({ rows: [row('pools', gpu)] });
    const decided = (id: string, did: string, code?: string): Change =>
      append('decisions', {
        id,
        at: 0,
        subject: poolSubject(gpu.id),
        did,
        ...(code === undefined ? {} : { reason: { code } }),
        why: '',
        facts: {},
      });
    await deps.store.commit([
      decided('1', 'nothing', 'max-agents'),
      decided('2', 'nothing', 'made up'),
      decided('3', 'invented 5'),
      append('decisions', { id: '4', at: 0, subject: 'made-up/x', did: 'launch 1', why: '', facts: {} }),
    ]);

    const { body } = await call('GET', '/metrics');
    const series = body.split('\n').filter((line) => line.startsWith('muster_decisions_total{'));

    expect(series).toEqual([
      'muster_decisions_total{pool="gpu",subject="pool",did="nothing",reason="max-agents"} 1',
      'muster_decisions_total{pool="gpu",subject="pool",did="nothing",reason="other"} 1',
      'muster_decisions_total{pool="gpu",subject="pool",did="other",reason="other"} 1',
      'muster_decisions_total{pool="",subject="other",did="other",reason="other"} 1',
    ]);
  });

  it('count runtimes from rows, and slots of static hosts from what grants them', async () => {
    const a: Runtime = {
      id: 'a',
      provisioner: 'fixed',
      slots: 3,
      environment: 'prod',
      annotations: {},
      createdAt: 1,
      since: 1,
      wanted: 'running',
      phase: 'ready',
    };
    const hosts = (): readonly HostStatus[] => [
      { host: 'http://h:1', provisioners: ['fixed'], slots: 5, used: 3, isDrained: false, runtimes: ['a'] },
    ];
    const { call } = await apiWorld({
      rows: [row('runtimes', a)],
      over: { features: { runtimes: { hosts } as unknown as Runtimes } },
    });

    const { body } = await call('GET', '/metrics');

    expect(body.split('\n').filter((line) => line.startsWith('muster_runtime'))).toEqual([
      'muster_runtimes{provisioner="fixed",phase="ready"} 1',
      'muster_runtime_slots{provisioner="fixed"} 3',
      'muster_runtime_host_slots{host="http://h:1"} 5',
      'muster_runtime_host_used_slots{host="http://h:1"} 3',
    ]);
  });

  it('measure from what the store tells: waiting, launching, deciding, ending', async () => {
    const { call, deps, clock } = await apiWorld({
      rows: [row('pools', gpu), row('offers', { id: 'o1', kind: 'process', config: {} })],
    });
    const { store } = deps;
    const start = clock.now();
    const session = aSession('s1', gpu, { acceptedAt: start });
    const decision = {
      id: 'd',
      at: 0,
      subject: poolSubject(gpu.id),
      did: 'launch 3',
      reason: { code: 'demand' },
      why: '',
      facts: {},
    };
    const mark = { cluster: 'c', use: 'worker', owner: gpu.id, shape: 'x' } as const;

    await store.commit([row('sessions', session), row('workers', aWorker('m-1', gpu.id, { askedAt: start }))]);
    await store.commit([
      row('launches', { id: 'l', offer: 'o1', mark, names: ['m-1'], agentConfig: '', askedAt: start }),
    ]);
    await store.commit([
      row('sessions', { ...session, worker: 'm-1', placedAt: start + 2_000 }),
      row('workers', aWorker('m-1', gpu.id, { askedAt: start, joinedAt: start + 20_000 })),
    ]);
    await store.commit([append('decisions', decision), append('ended', { ...session, end: { at: 1, how: 'killed' } })]);
    deps.metrics.cloudCall({ kind: 'aws', call: 'create', fault: 'exhausted', ms: 500 });
    const failed = {
      at: 0,
      kind: 'worker.failed',
      subject: 'worker/m',
      pool: gpu.id,
      who: 'w',
      from: 'f',
      message: 'm',
    };
    await store.commit([
      append('events', { ...failed, id: 'x1', fields: { fault: 'exhausted' } }),
      append('events', { ...failed, id: 'x2', fields: { fault: 'denied' } }),
    ]);
    const text = (await call('GET', '/metrics')).body;

    expect(figure(text, 'muster_session_queue_wait_seconds_sum{pool="gpu"}')).toBe(2);
    expect(figure(text, 'muster_launch_seconds_sum{pool="gpu",kind="process"}')).toBe(20);
    expect(figure(text, 'muster_decisions_total{pool="gpu",subject="pool",did="launch",reason="demand"}')).toBe(1);
    expect(figure(text, 'muster_sessions_ended_total{pool="gpu",how="killed"}')).toBe(1);
    expect(figure(text, 'muster_cloud_call_seconds_count{kind="aws",call="create",fault="exhausted"}')).toBe(1);
    for (const event of ['scale_up_attempt', 'resource_exhausted', 'allocation_error']) {
      const series = `velda_autoscaler_last_event_timestamp_seconds{pool="gpu",event="${event}"}`;
      expect(figure(text, series), event).toBe(start / 1_000);
    }
  });

  it('name routes, never paths', async () => {
    const { call } = await apiWorld({ rows: [row('pools', gpu)] });

    await call('GET', '/api/v1/pools/gpu');
    await call('GET', '/api/v1/pools/other');
    await call('GET', '/nothing/at/all');
    const text = (await call('GET', '/metrics')).body;

    expect(
      figure(text, 'muster_http_request_seconds_count{method="GET",route="/api/v1/pools/:pool",status="200"}'),
    ).toBe(1);
    expect(
      figure(text, 'muster_http_request_seconds_count{method="GET",route="/api/v1/pools/:pool",status="404"}'),
    ).toBe(1);
    expect(text).not.toContain('at/all');
  });

  it('stay bounded however many pools there are', async () => {
    const rows = Array.from({ length: 1_500 }, (_, at) => {
      const pool = poolWithSecret(`p${at}`);
      return [row('pools', pool), row('workers', aWorker(`m-${at}`, pool.id))];
    });
    const { call } = await apiWorld({ rows: rows.flat() });

    const text = (await call('GET', '/metrics')).body;

    expect(text.match(/^muster_workers\{/gm)).toHaveLength(1_001);
    expect(figure(text, 'muster_workers{pool="other",phase="launching"}')).toBe(500);
    expect(figure(text, 'muster_pools')).toBe(1_500);
  });

  it('show limits and prices of pools, of machines that are not stopped', async () => {
    const { spec, ...rest } = gpu;
    const scaling = { ...spec.scaling, minAgents: 1, maxAgents: 7, minIdleSlots: 2, maxIdleSlots: 3 };
    const limited = { ...rest, spec: { ...spec, scaling: { ...scaling, maxPricePerHour: 9.5 } } };
    const { call } = await apiWorld({
      rows: [
        row('pools', limited),
        row('pools', poolWithSecret('cpu')),
        row('offers', { id: 'o1', kind: 'process', config: {} }),
        row('offers', { id: 'o2', kind: 'process', config: {}, prices: [{ from: 1, perHour: 0.3 }] }),
        row('workers', aWorker('m-1', gpu.id, { pricePerHour: 0.1 })),
        row('workers', aWorker('m-2', gpu.id, { pricePerHour: 0.2 })),
        row('workers', aWorker('m-3', gpu.id, { offer: 'o2' })),
        row('workers', aWorker('m-4', gpu.id)),
        row('workers', aWorker('m-5', gpu.id, { pricePerHour: 5, parked: { at: 1 } })),
        row('workers', aWorker('m-6', gpu.id, { offer: undefined })),
      ],
    });

    const { body } = await call('GET', '/metrics');

    expect(body.split('\n').filter((line) => /^muster_pool_.*pool="gpu"/.test(line))).toEqual([
      'muster_pool_min_agents{pool="gpu"} 1',
      'muster_pool_max_agents{pool="gpu"} 7',
      'muster_pool_min_idle_agents{pool="gpu"} 2',
      'muster_pool_max_idle_agents{pool="gpu"} 3',
      'muster_pool_price_dollars_per_hour{pool="gpu"} 0.6',
      'muster_pool_machines_without_price{pool="gpu"} 1',
      'muster_pool_max_price_dollars_per_hour{pool="gpu"} 9.5',
    ]);
    expect(figure(body, 'muster_pool_price_dollars_per_hour{pool="cpu"}')).toBe(0);
    expect(figure(body, 'muster_pool_max_price_dollars_per_hour{pool="cpu"}')).toBeUndefined();
  });

  it('show limits of 200 pools, of those with a label first, and the rest together', async () => {
    const pools = Array.from({ length: 250 }, (_, at) => poolWithSecret(`p${String(at).padStart(3, '0')}`));
    const { call, deps } = await apiWorld({ rows: pools.map((pool) => row('pools', pool)) });
    const last = pools.at(-1) as Pool;
    await deps.store.commit([append('ended', { ...aSession('s', last), end: { at: 1, how: 'exited' } })]);

    const { body } = await call('GET', '/metrics');
    const series = body.split('\n').filter((line) => line.startsWith('muster_pool_max_idle_agents{'));

    expect(series).toHaveLength(201);
    expect(series).toContain('muster_pool_max_idle_agents{pool="p249"} 2');
    expect(series).toContain('muster_pool_max_idle_agents{pool="p198"} 2');
    expect(series).toContain('muster_pool_max_idle_agents{pool="other"} 100');
  });

  it('drop the counters of a removed pool when another pool needs its label, and keep them until then', async () => {
    const pools = Array.from({ length: 202 }, (_, at) => poolWithSecret(`p${at}`));
    const { call, deps } = await apiWorld({ rows: pools.map((pool) => row('pools', pool)) });
    const ended = (pool: Pool): Change =>
      append('ended', { ...aSession(`s-${pool.name}`, pool), end: { at: 1, how: 'exited' } });
    const exits = async (pool: string): Promise<number | undefined> =>
      figure((await call('GET', '/metrics')).body, `muster_sessions_ended_total{pool="${pool}",how="exited"}`);

    await deps.store.commit(pools.map(ended));
    const full = [await exits('p0'), await exits('p200'), await exits('other')];
    await deps.store.commit([gone('pools', 'p-p0')]);
    const kept = await exits('p0');
    await deps.store.commit([ended(pools[200] as Pool)]);
    const taken = [await exits('p0'), await exits('p200'), await exits('other')];

    expect(full).toEqual([1, undefined, 2]);
    expect(kept).toBe(1);
    expect(taken).toEqual([undefined, 1, 2]);
  });
});
