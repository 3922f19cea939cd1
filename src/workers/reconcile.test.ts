import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { poolSubject } from '#core/reason.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld } from '#sim/pool-world.ts';

describe('a pool of workers', () => {
  it('launches for the queue, runs it, and shrinks again by idle_decay', async () => {
    const world = await openPoolWorld({ pools: [aPool({ maxIdleSlots: 5 })] });
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 3, 30 * SECOND_MS);

    await world.advance(SECOND_MS);
    const owned = world.phases();
    await world.advance(30 * SECOND_MS);
    const running = world.phases();
    await world.advance(30 * SECOND_MS);
    const idle = world.phases();
    await world.advance(MINUTE_MS + 5 * SECOND_MS);
    const decayed = world.phases();
    await world.advance(10 * MINUTE_MS);

    expect([owned, running, idle, decayed, world.phases()]).toEqual([
      '3 booting',
      '3 busy',
      '3 idle',
      '2 idle',
      'none',
    ]);
    expect(world.cloud.machines()).toEqual([]);
    expect([...world.agents.runs.values()]).toEqual([1, 1, 1]);
    expect(world.agents.kills).toEqual([]);
  });

  it('launches and calls its cloud in one pass: there is nothing else to decide until the machine is listed', async () => {
    const world = await openPoolWorld({ pools: [aPool({ maxIdleSlots: 5 })] });
    await world.advance(SECOND_MS);
    const before = world.disk.histories.decisions.length;
    await world.life.submit('gpu', 3, 30 * SECOND_MS);
    await world.advance(100);

    expect(world.cloud.calls.filter(({ name }) => name === 'create')).toHaveLength(1);
    expect(world.disk.histories.decisions.slice(before).map(({ did }) => did)).toEqual(['launch 3']);
  });

  it('launches nothing for queued sessions whose labels no worker can have', async () => {
    const world = await openPoolWorld({ pools: [aPool()] });
    const { store, submit } = world.life;
    await world.advance(SECOND_MS);
    await submit('gpu', 1, SECOND_MS);
    const [session] = store.view.sessions.all();
    await store.commit([put('sessions', { ...(session as Session), unmatched: 'gpu=h100' })]);

    await world.advance(10 * MINUTE_MS);
    const launches = (): number => world.cloud.calls.filter(({ name }) => name === 'create').length;
    const before = launches();
    await store.commit([put('sessions', session as Session)]);
    await world.advance(2 * MINUTE_MS);

    expect([before, launches()]).toEqual([0, 1]);
  });

  it('never removes a worker that runs a session which the server does not know, until that has ended', async () => {
    const world = await openPoolWorld({ pools: [aPool({ maxIdleSlots: 5 })] });
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 1, SECOND_MS);
    await world.advance(MINUTE_MS);
    const [worker] = world.life.store.view.workers.all();
    world.life.machines.noteUnknown(worker?.id ?? '', ['of-another-server']);
    await world.advance(60 * MINUTE_MS);
    const before = world.phases();
    world.life.machines.noteUnknown(worker?.id ?? '', []);
    await world.advance(10 * MINUTE_MS);

    expect([before, world.phases()]).toEqual(['1 busy', 'none']);
  });

  it('writes down each decision that acts, with its reason and figures, and others once', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 2, maxIdleSlots: 2 })] });

    await world.advance(10 * MINUTE_MS);

    const told = world.disk.histories.decisions.map(({ did, why }) => `${did}: ${why}`);
    expect(told).toEqual([
      'launch 2: 0 queued and 0 idle, below min_idle 2: launching 2.',
      'nothing: 0 queued, 0 idle, 2 starting: within min_idle 2, max_idle 2, min_agents 0.',
    ]);
    expect(world.disk.histories.decisions[0]).toMatchObject({
      subject: 'pool/id-gpu',
      reason: { code: 'demand' },
      facts: { minIdleSlots: 2, idle: 0 },
    });
  });

  it('is not looked at again when its cloud has made what it asked for', async () => {
    const pool = aPool({ minIdleSlots: 1, syncEveryMs: MINUTE_MS });
    const world = await openPoolWorld({ pools: [pool], cloud: { bootMs: 2 * MINUTE_MS, answerMs: SECOND_MS } });
    const passes = (): number => world.life.journal.lastDecision(poolSubject(pool.id))?.repeats ?? 0;
    await world.advance(1.5 * SECOND_MS);
    const before = { phases: world.phases(), passes: passes() };
    await world.advance(SECOND_MS);

    expect(before.phases).toBe('1 launching');
    expect({ phases: world.phases(), passes: passes() }).toEqual({ phases: '1 booting', passes: before.passes });
  });

  it('is not looked at again for a listing that shows a booting machine as before', async () => {
    const pool = aPool({ minIdleSlots: 1, syncEveryMs: 5 * SECOND_MS });
    const world = await openPoolWorld({ pools: [pool], cloud: { bootMs: 2 * MINUTE_MS } });
    const passes = (): number => world.life.journal.lastDecision(poolSubject(pool.id))?.repeats ?? 0;
    const lists = (): number => world.cloud.calls.filter(({ name }) => name === 'list').length;
    await world.advance(20 * SECOND_MS);
    const before = { passes: passes(), lists: lists() };
    await world.advance(MINUTE_MS);

    expect(lists()).toBeGreaterThan(before.lists + 5);
    expect(passes()).toBe(before.passes);
    expect(world.phases()).toBe('1 booting');
  });

  it('answers an agent that joins and the session that it gets with one pass', async () => {
    const pool = aPool({ maxIdleSlots: 5, syncEveryMs: 10 * MINUTE_MS });
    const world = await openPoolWorld({ pools: [pool], cloud: { bootMs: MINUTE_MS } });
    const passes = (): number => world.life.journal.lastDecision(poolSubject(pool.id))?.repeats ?? 0;
    await world.advance(SECOND_MS);
    await world.life.submit('gpu', 1, 10 * MINUTE_MS);
    await world.advance(59 * SECOND_MS);
    const before = { phases: world.phases(), passes: passes() };
    await world.advance(5 * SECOND_MS);

    expect(before.phases).toBe('1 booting');
    expect({ phases: world.phases(), passes: passes() }).toEqual({ phases: '1 busy', passes: before.passes + 1 });
  });

  it('does nothing while paused, says so, and goes on when resumed', async () => {
    const pool = aPool({ minIdleSlots: 1 }, {}, { pausedAt: 1 });
    const world = await openPoolWorld({ pools: [pool] });

    await world.advance(5 * MINUTE_MS);
    const paused = {
      calls: world.cloud.calls.filter((call) => call.name !== 'list'),
      plan: world.life.workers.plan(pool.id),
    };
    await world.set({ ...pool, pausedAt: undefined, revision: 2 });
    await world.advance(MINUTE_MS);

    expect(paused).toMatchObject({
      calls: [],
      plan: { actions: [], why: 'Paused: Muster launches and removes nothing.' },
    });
    expect(world.phases()).toBe('1 idle');
  });

  it('shows what the next pass would do without doing it', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 }, {}, { pausedAt: 1 })] });
    await world.advance(SECOND_MS);

    await world.set(aPool({ minIdleSlots: 1 }, {}, { revision: 2 }));
    const plan = world.life.workers.plan('id-gpu');

    expect(plan.actions).toEqual([
      { do: 'launch', offer: 'shape1', count: 1, why: '0 queued and 0 idle, below min_idle 1' },
    ]);
    expect(world.cloud.machines()).toEqual([]);
    expect(() => world.life.workers.plan('nobody')).toThrow('There is no pool nobody.');
  });

  it('drains a pool that is removed: idle workers go at once, busy ones finish, nothing new starts', async () => {
    const pool = aPool({ minIdleSlots: 1, maxIdleSlots: 1 });
    const world = await openPoolWorld({ pools: [pool] });
    await world.life.submit(pool.name, 1, 5 * MINUTE_MS);
    await world.advance(MINUTE_MS);
    const before = world.phases();

    await world.set({ ...pool, removal: { at: 0, deadlineAt: world.clock.now() + 3_600_000, why: 'gone' } });
    await world.advance(MINUTE_MS);
    const draining = world.phases();
    await world.advance(10 * MINUTE_MS);

    expect([before, draining, world.phases()]).toEqual(['1 idle, 1 busy', '1 draining', 'none']);
    expect(world.agents.kills).toEqual([]);
    expect(world.cloud.machines()).toEqual([]);
  });

  it('ends a removal at its deadline, whatever still runs', async () => {
    const pool = aPool();
    const world = await openPoolWorld({ pools: [pool] });
    await world.life.submit(pool.name, 1, 600 * MINUTE_MS);
    await world.advance(MINUTE_MS);

    await world.set({ ...pool, removal: { at: 0, deadlineAt: world.clock.now() + 10 * MINUTE_MS, why: 'gone' } });
    await world.advance(9 * MINUTE_MS);
    const before = world.phases();
    await world.advance(2 * MINUTE_MS);

    expect([before, world.phases()]).toEqual(['1 draining', 'none']);
    expect(world.cloud.machines()).toEqual([]);
  });

  it('keeps what an older definition launched until it is gone, and then forgets the offer', async () => {
    const pool = aPool({ minIdleSlots: 0 });
    const world = await openPoolWorld({ pools: [pool] });
    await world.life.submit(pool.name, 1, 5 * MINUTE_MS);
    await world.advance(MINUTE_MS);

    const other = { id: 'shape2', kind: 'sim', config: {} };
    await world.set({ ...pool, revision: 2, spec: { ...pool.spec, offers: [other] } });
    await world.advance(2 * MINUTE_MS);
    const during = world.phases();
    await world.advance(60 * MINUTE_MS);

    expect(during).toBe('1 busy');
    expect(world.cloud.machines()).toEqual([]);
    expect([...world.life.store.view.offers.all()]).toEqual([]);
  });

  it('launches once initial_delay is over, though its cloud cannot be listed', async () => {
    const world = await openPoolWorld({ pools: [] });
    world.cloud.script = ({ name }) =>
      name === 'list' ? { is: 'refused', fault: new Fault('denied', 'no rights') } : undefined;
    const launches = () => world.cloud.calls.filter(({ name }) => name === 'create').length;
    await world.set(aPool({ minAgents: 1, initialDelayMs: 5 * MINUTE_MS }));

    await world.advance(4 * MINUTE_MS);
    const before = launches();
    await world.advance(2 * MINUTE_MS);

    expect([before, launches()]).toEqual([0, 1]);
  });

  it('answers a flood of sessions with few passes', async () => {
    const world = await openPoolWorld({ pools: [aPool({ maxAgents: 1 })] });
    await world.advance(MINUTE_MS);
    const passes = (): number =>
      world.disk.histories.decisions.length + (world.life.journal.lastDecision('pool/id-gpu')?.repeats ?? 0);
    const before = passes();

    for (let at = 0; at < 200; at++) {
      await world.life.submit('gpu', 1, 10 * MINUTE_MS);
      await world.clock.settle();
    }
    await world.advance(20);

    expect(passes() - before).toBeLessThan(10);
    expect(world.life.workers.plan('id-gpu').why).toMatch(/^200 queued/);
  });

  it('stops in good order, with a call under way', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })] });
    world.cloud.script = ({ name }) => (name === 'create' ? { is: 'hang', isDone: false } : undefined);
    await world.advance(SECOND_MS);

    const stopped = Promise.all([world.life.workers.stop(), world.life.clouds.stop()]);
    await world.advance(0);

    await expect(Promise.race([stopped.then(() => 'stopped'), world.advance(10).then(() => 'hanging')])).resolves.toBe(
      'stopped',
    );
  });
});
