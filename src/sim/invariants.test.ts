// Each invariant against a part that is broken on purpose: one that nothing can break proves nothing.

import { describe, expect, it } from 'vitest';
import { readFacts, writeFacts } from '#autoscaler/inputs.ts';
import { type Facts, plan } from '#autoscaler/plan.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type DecisionRow, SELF } from '#core/journal.ts';
import type { Backend, Machine } from '#core/provider.ts';
import type { Session } from '#core/session.ts';
import { append, type Change } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { AgentQuirks } from './agent.ts';
import { comeToRest, runWorld } from './day.ts';
import type { Definition } from './definitions.ts';
import { type FaultRates, NO_FAULTS } from './faults.ts';
import type { Invariant } from './invariants.ts';
import { openSeededWorld, type SeededWorld, type SeededWorldOptions } from './seeded-world.ts';
import type { Life } from './server.ts';
import { commandOf } from './work.ts';

const POOL: Definition = {
  name: 'gpu',
  regions: ['north'],
  size: 'small',
  slots: 1,
  minAgents: 0,
  maxAgents: 3,
  minIdle: 1,
  maxIdle: 1,
  idleDecayS: 30,
  bootTimeoutS: 180,
  drainTimeoutS: 300,
};

const OFTEN: SeededWorldOptions = { seed: 1, pools: [POOL], sessionsPerPoolHour: 300, meanSessionMs: MINUTE_MS };
const only = (rates: Partial<FaultRates>): FaultRates => ({ ...NO_FAULTS, ...rates });

/** Runs an hour with a broken part, and tells what broke. */
async function brokenIn(options: Partial<SeededWorldOptions>): Promise<Invariant | undefined> {
  const world = await runWorld({ ...OFTEN, ...options }, 1);
  return world.invariants.firstBreak?.invariant;
}

const withBackend = (broken: (backend: Backend) => Partial<Backend>) =>
  brokenIn({ sabotage: { wrapBackend: (backend) => ({ ...backend, ...broken(backend) }) } });

const withAgents = (quirks: AgentQuirks, faults: Partial<FaultRates> = {}) =>
  brokenIn({ quirks, faults: only(faults) });

const change = (table: 'workers' | 'sessions', row: Worker | Session): Change => ({ table, id: row.id, row }) as Change;

function submit(world: SeededWorld, count: number, seconds: number): void {
  const command = commandOf({ durationMs: seconds * SECOND_MS, exitCode: 0, pieces: 0 });
  const spec = { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 3 };
  world.load.submit(Array.from({ length: count }, () => ({ pool: POOL.name, spec })));
}

/** A quiet world with one idle worker, in which someone meddles with the rows. */
async function meddled(meddle: (life: Life, world: SeededWorld) => Promise<unknown>): Promise<Invariant | undefined> {
  const world = await openSeededWorld({ seed: 1, pools: [POOL] });
  await world.advance(2 * MINUTE_MS);
  const life = world.life as Life;
  const meddling = meddle(life, world);
  await world.advance(5 * MINUTE_MS);
  await meddling;
  return world.invariants.firstBreak?.invariant;
}

/** What the pool would have decided with other limits. */
function decidedAgain(last: DecisionRow, limits: Partial<Facts['scaling']>): DecisionRow {
  const before = readFacts(last.inputs ?? '');
  const facts = { ...before, scaling: { ...before.scaling, ...limits } };
  const { did, reason, also, why, unless, figures } = plan(facts);
  return { ...last, id: 'other', did, reason, also, why, unless, facts: figures, inputs: writeFacts(facts, String) };
}

const firstOf = <T>(rows: Iterable<T>): T => [...rows][0] as T;

describe('a broken cloud', () => {
  it('that makes more machines than it was asked for goes above max_agents', async () => {
    const found = await withBackend((backend) => ({
      create: (launch, signal) =>
        backend.create({ ...launch, names: [...launch.names, `${launch.names[0]}-more`] }, signal),
    }));

    expect(found).toBe('cap');
  });

  it('that repeats a create after a lost reply makes a machine twice', async () => {
    const again = (backend: Backend): Partial<Backend> => ({
      create: (launch, signal) =>
        backend.create(launch, signal).catch(() => backend.create({ ...launch, id: `${launch.id}-again` }, signal)),
    });
    const found = await brokenIn({
      faults: only({ 'lost-reply': 0.5 }),
      sabotage: { wrapBackend: (backend) => ({ ...backend, ...again(backend) }) },
    });

    expect(found).toBe('made-once');
  });

  it('that deletes more than it was asked for touches what is not ours', async () => {
    const theirs: Machine = {
      name: 'foreign-north',
      mark: { cluster: 'another', use: 'worker', owner: 'theirs', shape: 'theirs' },
      createdAt: 0,
      state: 'running',
    };
    const found = await withBackend((backend) => ({
      delete: (machines, signal) => backend.delete([...machines, theirs], signal),
    }));

    expect(found).toBe('foreign-kept');
  });

  it('that lists nothing at all makes us forget workers whose machines are there', async () => {
    const found = await withBackend(() => ({ list: async () => [] }));

    expect(found).toBe('row-last');
  });

  it('that only pretends to delete makes us forget machines that go on', async () => {
    const hidden = new Set<string>();
    const found = await withBackend((backend) => ({
      list: async (signal) => (await backend.list(signal)).filter(({ name }) => !hidden.has(name)),
      async delete(machines) {
        for (const { name } of machines) hidden.add(name);
        return machines.map(({ name }) => ({ name }));
      },
    }));

    expect(found).toBe('row-last');
  });

  it('that makes more than it was asked for and hides it leaks machines', async () => {
    const hiding = (backend: Backend): Partial<Backend> => ({
      create: (launch, signal) =>
        backend.create({ ...launch, names: [...launch.names, `${launch.names[0]}-more`] }, signal),
      list: async (signal) => (await backend.list(signal)).filter(({ name }) => !name.endsWith('-more')),
    });
    const found = await brokenIn({
      pools: [{ ...POOL, maxAgents: 1_000 }],
      sabotage: { wrapBackend: (backend) => ({ ...backend, ...hiding(backend) }) },
    });

    expect(found).toBe('none-leaked');
  });

  it('that never deletes leaves workers without use', async () => {
    const found = await withBackend((backend) => ({
      delete: async (machines) => machines.map(({ name }) => ({ name })),
      list: (signal) => backend.list(signal),
    }));

    expect(found).toBe('at-rest');
  });
});

describe('a broken agent', () => {
  it('that starts everything twice is caught', async () => {
    expect(await withAgents({ startsTwice: true })).toBe('one-start');
  });

  it('that says it has one slot more than it has runs two sessions in one', async () => {
    expect(await withAgents({ boastsOfSlots: 1 })).toBe('one-slot');
  });

  it('that forgets what ended while it was cut off makes sessions run again beside their first copy', async () => {
    expect(await withAgents({ forgetsResults: true }, { 'agent-cut': 200 })).toBe('one-copy');
  });

  it('that forgets output before it was acknowledged loses output', async () => {
    expect(await withAgents({ forgetsOutput: true }, { 'agent-cut': 200 })).toBe('whole-output');
  });

  it('that never tells of an end keeps its session for ever', async () => {
    expect(await withAgents({ mutesEnds: true })).toBe('all-ended');
  });
});

describe('a broken disk', () => {
  it('that says yes before it has written lets things leave too early', async () => {
    const late: (() => void)[] = [];
    const found = await brokenIn({
      sabotage: {
        wrapDriver: (driver) => ({
          ...driver,
          async write(changes) {
            late.push(() => void driver.write(changes));
            if (late.length > 1) late.shift()?.();
          },
        }),
      },
    });

    expect(found).toBe('durable-first');
  });

  it('that writes an end twice gives a session two of them', async () => {
    const found = await brokenIn({
      sabotage: {
        wrapDriver: (driver) => ({
          ...driver,
          write: (changes) =>
            driver.write([...changes, ...changes.filter((one) => 'append' in one && one.append === 'ended')]),
        }),
      },
    });

    expect(found).toBe('one-end');
  });

  it('that forgets ended sessions accepts a repeated request anew', async () => {
    const world = await openSeededWorld({
      seed: 1,
      pools: [POOL],
      sabotage: {
        wrapDriver: (driver) => ({ ...driver, history: { ...driver.history, ended: async () => [] } }),
      },
    });
    await world.advance(2 * MINUTE_MS);
    submit(world, 1, 1);
    await world.advance(MINUTE_MS);
    const [ended] = world.disk.histories.ended;
    const requests = [{ pool: POOL.name, spec: (ended as Session).spec }];

    const again = world.life?.sessions.submit(requests, { who: 'client', from: '' }, 'job-1');
    await world.advance(SECOND_MS);
    world.laws.accepted((await again) ?? [], 'job-1');

    expect(world.invariants.firstBreak?.invariant).toBe('same-answer');
  });
});

describe('a broken server', () => {
  it('that removes a busy worker is caught', async () => {
    const found = await meddled(async ({ store }, world) => {
      submit(world, 1, 600);
      await world.clock.sleep(10 * SECOND_MS);
      const busy = firstOf(store.view.sessions.all()).worker as string;
      const worker = store.view.workers.get(busy) as Worker;
      await store.commit([change('workers', { ...worker, removal: { at: 0, why: 'a mistake' } })]);
    });

    expect(found).toBe('busy-kept');
  });

  it('that queues a session again while it runs is caught', async () => {
    const found = await meddled(async ({ store, workers }, world) => {
      submit(world, 1, 600);
      await world.clock.sleep(2 * MINUTE_MS);
      const session = firstOf(store.view.sessions.all());
      await workers.drain(session.worker as string, SELF);
      const { worker: _worker, placedAt: _placedAt, startedAt: _startedAt, ...queued } = session;
      await store.commit([change('sessions', queued)]);
    });

    expect(found).toBe('one-copy');
  });

  it('that places the last first is caught', async () => {
    const found = await meddled(async ({ store }, world) => {
      submit(world, 8, 600);
      await world.clock.sleep(MINUTE_MS);
      const last = [...store.view.sessions.by('queue', firstOf(store.view.pools.all()).id)].at(-1) as Session;
      const worker = firstOf(store.view.agents.all()).id;
      await store.commit([change('sessions', { ...last, worker, attempt: 1 })]);
    });

    expect(found).toBe('fifo');
  });

  it('that stands still while sessions wait keeps too little idle', async () => {
    const found = await meddled(async ({ pools }, world) => {
      await pools.pause(POOL.name, true, SELF);
      submit(world, 2, 60);
    });

    expect(found).toBe('idle-kept');
  });

  it('that removes a worker to save money and needs it at once is caught', async () => {
    const found = await meddled(async ({ store }) => {
      const worker = firstOf(store.view.workers.all());
      const [last] = await store.history.decisions({}, { limit: 1, order: 'newest first' });
      const decision = decidedAgain(last as DecisionRow, { minIdleSlots: 0, maxIdleSlots: 0 });
      await store.commit([
        append('decisions', decision),
        change('workers', { ...worker, removal: { at: 0, why: 'a mistake' } }),
      ]);
    });

    expect(found).toBe('no-flapping');
  });

  it('that stores other inputs than it decided on is caught', async () => {
    const found = await meddled(async ({ store }) => {
      const [last] = await store.history.decisions({}, { limit: 1, order: 'newest first' });
      const inputs = JSON.stringify({ ...JSON.parse(last?.inputs ?? ''), queued: 100 });
      await store.commit([append('decisions', { ...(last as DecisionRow), id: 'other', inputs })]);
    });

    expect(found).toBe('replayed');
  });

  it('that acts on a frozen pool is caught', async () => {
    const found = await meddled(async ({ workers, store }) => {
      await workers.freeze(firstOf(store.view.pools.all()).id, 'a test', SELF);
      const worker = firstOf(store.view.workers.all());
      await store.commit([change('workers', { ...worker, removal: { at: 0, why: 'a mistake' } })]);
    });

    expect(found).toBe('held-still');
  });
});

describe('a world without a broken part', () => {
  it('keeps every invariant', async () => {
    const world = await openSeededWorld({ seed: 1, pools: [POOL] });
    await world.advance(2 * MINUTE_MS);
    submit(world, 5, 60);
    await world.advance(5 * MINUTE_MS);
    await comeToRest(world);

    expect(world.invariants.firstBreak).toBeUndefined();
    expect(Math.min(...Object.values(world.invariants.looks))).toBeGreaterThan(0);
  });
});
