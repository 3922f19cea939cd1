import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const OPS = { who: 'ops', from: 'here' };

const deletes = (world: PoolWorld) => world.cloud.calls.filter((call) => call.name === 'delete');
const events = (world: PoolWorld, kind: string) => world.disk.histories.events.filter((event) => event.kind === kind);

async function withIdle(scaling = {}, cloud = {}) {
  const world = await openPoolWorld({ pools: [aPool({ minAgents: 1, maxIdleSlots: 5, ...scaling })], cloud });
  await world.advance(MINUTE_MS);
  const [name = ''] = world.agents.all.keys();
  return { world, name };
}

describe('draining', () => {
  it('removes an idle worker at once, and its pool makes good what it needs', async () => {
    const { world, name } = await withIdle();

    const drained = await world.life.workers.drain(name, OPS);
    await world.advance(MINUTE_MS);

    expect(drained.drain).toMatchObject({ why: 'ops asked for it', deadlineAt: expect.any(Number) });
    expect(world.cloud.machines().map((made) => made.name)).not.toContain(name);
    expect(world.phases()).toBe('1 idle');
    expect(events(world, 'worker.draining')).toMatchObject([{ who: 'ops', subject: `worker/${name}` }]);
    expect(events(world, 'worker.removed')[0]?.message).toMatch(/^Machine gone after \d+(m\d+)?s: ops asked for it\.$/);
  });

  it('lets a busy worker finish, and gives it nothing new', async () => {
    const { world, name } = await withIdle({ maxAgents: 1 });
    await world.life.submit('gpu', 2, 5 * MINUTE_MS);
    await world.advance(SECOND_MS);

    await world.life.workers.drain(name, OPS);
    await world.advance(4 * MINUTE_MS);
    const during = world.phases();
    await world.advance(10 * MINUTE_MS);

    expect(during).toBe('1 draining');
    expect([...world.agents.runs.values()]).toEqual([1, 1]);
    expect(world.agents.kills).toEqual([]);
    expect(world.agents.all.has(name)).toBe(false);
  });

  it('ends at the deadline, and by the wall clock, which others set it by', async () => {
    const { world, name } = await withIdle();
    await world.life.submit('gpu', 1, 600 * MINUTE_MS);
    await world.advance(SECOND_MS);
    await world.life.workers.drain(name, OPS);

    await world.advance(59 * MINUTE_MS);
    const before = world.agents.all.has(name);
    await world.advance(2 * MINUTE_MS);

    expect([before, world.agents.all.has(name)]).toEqual([true, false]);
  });

  it('of a worker that does not exist says so', async () => {
    const { world } = await withIdle();

    await expect(world.life.workers.drain('nobody', OPS)).rejects.toMatchObject({ kind: 'missing' });
  });

  it('ends the wait for a lost worker with sessions', async () => {
    const { world, name } = await withIdle();
    await world.life.submit('gpu', 1, 600 * MINUTE_MS);
    await world.advance(SECOND_MS);
    world.agents.cutOff([name], true);
    await world.advance(30 * MINUTE_MS);
    const waiting = world.phases();

    await world.life.workers.drain(name, OPS);
    await world.advance(62 * MINUTE_MS);

    expect(waiting).toBe('1 idle, 1 lost');
    expect(world.cloud.machines().map((made) => made.name)).not.toContain(name);
    expect([...world.agents.runs.values()]).toEqual([2]);
  });
});

describe('a removal', () => {
  it('is durable before the agent gets its command and the cloud is called', async () => {
    let isSlow = false;
    const onWrite = (_nth: number, write: () => Promise<void>): Promise<void> =>
      isSlow ? new Promise(() => {}) : write();
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1, maxIdleSlots: 5 })], onWrite });
    await world.advance(MINUTE_MS);
    const told: string[] = [];
    const { send } = world.network;
    world.network.send = (agent, command) => {
      told.push(command.do);
      return send(agent, command);
    };
    const [name = ''] = world.agents.all.keys();
    isSlow = true;

    void world.life.workers.drain(name, OPS);
    await world.advance(MINUTE_MS);

    expect(world.life.store.view.workers.get(name)?.removal).toBeDefined();
    expect(told).toEqual([]);
    expect(deletes(world)).toEqual([]);
  });

  it('is tried until the cloud agrees', async () => {
    const { world, name } = await withIdle();
    world.cloud.script = (call) => {
      if (call.name !== 'delete' || call.nth > 3) return undefined;
      return { is: 'refused', fault: new Fault('unavailable', 'not now') };
    };

    await world.life.workers.drain(name, OPS);
    await world.advance(MINUTE_MS);

    expect(deletes(world).map((call) => call.names)).toEqual([[name], [name], [name], [name]]);
    expect(world.life.store.view.workers.get(name)).toBeUndefined();
  });

  it.each(['lost reply', 'silent'] as const)(
    'whose answer is a %s is repeated, and deleting twice is no error',
    async (how) => {
      const { world, name } = await withIdle();
      world.cloud.script = (call) => {
        if (call.name !== 'delete' || call.nth > 1) return undefined;
        return how === 'silent' ? { is: 'partial', of: () => 'silent' } : { is: 'lost reply' };
      };

      await world.life.workers.drain(name, OPS);
      await world.advance(MINUTE_MS);

      expect(world.life.store.view.workers.get(name)).toBeUndefined();
      expect(events(world, 'worker.removed')).toHaveLength(1);
    },
  );

  it('keeps its row, and its place under max_agents, until the cloud shows it no more', async () => {
    const { world, name } = await withIdle({ maxAgents: 1 }, { deletingMs: 90_000 });

    await world.life.workers.drain(name, OPS);
    await world.advance(MINUTE_MS);
    const during = [world.phases(), world.cloud.machines().length];
    await world.advance(2 * MINUTE_MS);

    expect(during).toEqual(['1 deleting', 0]);
    expect(world.phases()).toBe('1 idle');
  });

  it('is looked for only once a machine can have gone, and costs two listings', async () => {
    const { world, name } = await withIdle({ syncEveryMs: 60 * MINUTE_MS }, { deletingMs: 5 * SECOND_MS });
    const listings = () => world.cloud.calls.filter((call) => call.name === 'list').length;
    // Right after the listing of every minute, so that the next one comes after all is over.
    await world.advance(3 * SECOND_MS);
    const before = listings();

    await world.life.workers.drain(name, OPS);
    await world.advance(9 * SECOND_MS);
    const atOnce = listings() - before;
    await world.advance(MINUTE_MS);

    expect(deletes(world)).toHaveLength(1);
    expect(world.agents.all.has(name)).toBe(false);
    expect(events(world, 'worker.removed')).toHaveLength(1);
    expect([atOnce, listings() - before]).toEqual([0, 2]);
  });

  it('is repeated where the cloud forgot it, also while the agent stays connected', async () => {
    const { world, name } = await withIdle();
    const { send } = world.network;
    // One that does not understand that it is to go.
    world.network.send = (agent, command) => command.do === 'drain' || send(agent, command);
    world.cloud.script = (call) =>
      call.name === 'delete' && call.nth === 1 ? { is: 'partial', of: () => 'forgotten' } : undefined;

    await world.life.workers.drain(name, OPS);
    await world.advance(60 * MINUTE_MS);

    expect(deletes(world)).toHaveLength(2);
    expect(world.life.store.view.workers.get(name)).toBeUndefined();
  });

  it('is repeated where the cloud agreed and the machine still runs', async () => {
    const { world, name } = await withIdle();
    world.cloud.script = (call) => {
      if (call.name !== 'delete' || call.nth > 1) return undefined;
      return { is: 'partial', of: () => undefined };
    };
    const keep = world.cloud.machines().find((made) => made.name === name);
    world.cloud.onGone((made) => {
      if (deletes(world).length === 1 && made.name === name && keep)
        world.cloud.add({ ...keep.machine, state: 'running' });
    });

    await world.life.workers.drain(name, OPS);
    await world.advance(10 * MINUTE_MS);

    expect(deletes(world).length).toBe(2);
    expect(world.cloud.machines().map((made) => made.name)).not.toContain(name);
  });

  it('is repeated for a machine that stays as it was, though nothing else happens to its pool', async () => {
    const { world, name } = await withIdle();
    world.cloud.script = ({ name: call, nth }) =>
      call === 'delete' && nth === 1 ? { is: 'partial', of: () => 'forgotten' } : undefined;

    await world.set({ ...aPool(), revision: 2, spec: aPool({ maxAgents: 0 }).spec });
    await world.advance(MINUTE_MS);
    const early = deletes(world).length;
    await world.advance(3 * MINUTE_MS);

    expect([early, deletes(world).length]).toEqual([1, 2]);
    expect(world.cloud.find(name)).toBeUndefined();
  });

  it('of a machine whose launch is under way waits for that to end, and leaves nothing behind', async () => {
    const pool = aPool({ minIdleSlots: 1, maxIdleSlots: 1 });
    const world = await openPoolWorld({ pools: [pool] });
    world.cloud.script = ({ name, nth }) => (name === 'create' && nth === 1 ? { is: 'slow', ms: 60_000 } : undefined);
    await world.advance(SECOND_MS);

    await world.set({ ...pool, revision: 2, spec: aPool({ maxAgents: 0 }).spec });
    await world.advance(30 * SECOND_MS);
    const early = deletes(world).length;
    await world.advance(5 * MINUTE_MS);

    expect(early).toBe(0);
    expect(world.cloud.machines()).toEqual([]);
    expect(world.phases()).toBe('none');
    expect(world.life.store.view.launches.size).toBe(0);
  });

  it('waits also for a launch that is being repeated', async () => {
    const pool = aPool({ minIdleSlots: 1, maxIdleSlots: 1 });
    const world = await openPoolWorld({ pools: [pool], parts: { times: { listLagMs: 1_000 } } });
    world.cloud.script = ({ name, nth }) => {
      if (name !== 'create' || nth > 2) return undefined;
      return nth === 1 ? { is: 'hang', isDone: false } : { is: 'slow', ms: 60_000 };
    };
    await world.advance(2 * MINUTE_MS + 20 * SECOND_MS);
    expect(world.cloud.calls.filter((call) => call.name === 'create')).toHaveLength(2);

    await world.set({ ...pool, revision: 2, spec: aPool({ maxAgents: 0, maxIdleSlots: 0 }).spec });
    await world.advance(20 * SECOND_MS);
    const early = [world.phases(), deletes(world).length];
    await world.advance(5 * MINUTE_MS);

    expect(early).toEqual(['1 deleting', 0]);
    expect(world.cloud.machines()).toEqual([]);
  });

  it('stays while the cloud refuses, whatever listings said before', async () => {
    const { world, name } = await withIdle({ syncEveryMs: 10_000 });
    const hide = { is: 'answer', of: () => [] } as const;
    world.cloud.script = ({ name: call }) => (call === 'list' ? hide : undefined);
    await world.advance(MINUTE_MS);
    const show = { is: 'refused', fault: new Fault('denied', 'no rights') } as const;
    world.cloud.script = ({ name: call }) => (call === 'list' ? undefined : show);

    await world.life.workers.drain(name, OPS);
    await world.advance(5 * MINUTE_MS);

    expect(world.life.store.view.workers.get(name)?.removal).toBeDefined();
  });

  it('asks the cloud also where listings never showed the machine', async () => {
    const { world, name } = await withIdle();
    world.cloud.script = ({ name: call }) => (call === 'list' ? { is: 'answer', of: () => [] } : undefined);
    await world.advance(5 * MINUTE_MS);

    await world.life.workers.drain(name, OPS);
    await world.advance(MINUTE_MS);

    expect(world.cloud.machines().map((made) => made.name)).not.toContain(name);
  });

  it('is not over with one listing that lacks the machine, though the cloud agreed to delete it', async () => {
    const { world, name } = await withIdle({ minAgents: 2 });
    let lists = 0;
    world.cloud.script = ({ name: call, nth }) => {
      if (call === 'delete' && nth === 1) return { is: 'partial', of: () => 'forgotten' };
      if (call !== 'list' || ++lists !== 1) return undefined;
      return { is: 'answer', of: (all) => all.filter((machine) => machine.name !== name) };
    };

    await world.life.workers.drain(name, OPS);
    await world.advance(MINUTE_MS);
    const early = [world.life.store.view.workers.get(name) !== undefined, world.cloud.find(name) !== undefined];
    await world.advance(10 * MINUTE_MS);

    expect(early).toEqual([true, true]);
    expect(world.cloud.find(name)).toBeUndefined();
    expect(world.life.store.view.workers.get(name)).toBeUndefined();
  });

  it('asks for a machine that listings leave out by the id that an earlier one showed', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minAgents: 1, maxIdleSlots: 5 })] });
    world.cloud.script = ({ name: call }) =>
      call === 'list' ? { is: 'answer', of: (all) => all.map((machine) => ({ ...machine, id: 'i-7' })) } : undefined;
    await world.advance(2 * MINUTE_MS);
    const [name = ''] = world.agents.all.keys();
    world.cloud.script = ({ name: call }) => (call === 'list' ? { is: 'answer', of: () => [] } : undefined);
    await world.advance(MINUTE_MS);

    await world.life.workers.drain(name, OPS);
    await world.advance(MINUTE_MS);

    expect(deletes(world)[0]?.machines).toMatchObject([{ name, id: 'i-7' }]);
  });

  it('never touches a machine of that name that bears a foreign mark', async () => {
    const { world, name } = await withIdle();
    world.cloud.kill(name);
    world.cloud.add({
      name,
      mark: { cluster: 'theirs', use: 'worker', owner: 'p', shape: 's' },
      createdAt: 0,
      state: 'running',
    });

    await world.life.workers.drain(name, OPS);
    await world.advance(10 * MINUTE_MS);

    expect(world.cloud.machines().find((made) => made.name === name)?.machine.mark?.cluster).toBe('theirs');
    expect(world.life.store.view.workers.get(name)).toBeUndefined();
  });
});
