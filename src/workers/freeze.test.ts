import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Pool } from '#core/pool.ts';
import { put } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const OPS = { who: 'ops', from: 'here' };

const writes = (world: PoolWorld) => world.cloud.calls.filter((call) => call.name !== 'list').length;
const names = (world: PoolWorld) => [...world.agents.all.keys()];
const freezes = (world: PoolWorld) => [...world.life.store.view.freezes.all()];

const FEW = { minIdleSlots: 5, maxIdleSlots: 5, maxAgents: 9 };

async function remove(world: PoolWorld, id: string): Promise<void> {
  const pool = world.life.store.view.pools.get(id) as Pool;
  const removal = { at: world.clock.now(), deadlineAt: world.clock.now() + HOUR_MS, why: 'Deleted.' };
  await world.life.store.commit([put('pools', { ...pool, removal, revision: pool.revision + 1 })]);
}

async function withBusy(count: number, options: Parameters<typeof openPoolWorld>[0] = {}) {
  const world = await openPoolWorld({
    pools: [aPool({ maxAgents: 20, maxIdleSlots: 20, idleDecayMs: HOUR_MS })],
    ...options,
  });
  await world.life.submit('gpu', count, 10 * HOUR_MS);
  await world.advance(MINUTE_MS);
  return world;
}

describe('mass loss', () => {
  it('of all agents of a pool for 90 seconds deletes and starts nothing, and shows a freeze', async () => {
    const world = await withBusy(5);
    const before = writes(world);
    await world.life.submit('gpu', 2, MINUTE_MS);

    world.agents.cutOff(names(world), true);
    await world.advance(90 * SECOND_MS);
    const during = { freezes: freezes(world), plan: world.life.workers.plan('id-gpu'), writes: writes(world) };
    world.agents.cutOff(names(world), false);
    await world.advance(SECOND_MS);

    expect(during.freezes).toMatchObject([
      { id: 'id-gpu', automatic: true, why: '5 of 5 workers disconnected at once' },
    ]);
    expect(during.plan.why).toMatch(/^Frozen/);
    expect(during.writes).toBe(before);
    expect(freezes(world)).toEqual([]);
    expect([...world.agents.runs.values()].filter((times) => times > 1)).toEqual([]);
    expect(world.disk.histories.events.map((event) => event.kind)).toEqual(
      expect.arrayContaining(['pool.frozen', 'pool.thawed']),
    );
  });

  it('that the cloud has given notice of freezes nothing, and what ran there starts anew', async () => {
    const world = await withBusy(4);
    const taken = [...world.agents.all.values()].slice(0, 3);
    const leaving = { why: 'the cloud reclaims its machine', endsAt: world.clock.now() + 2 * MINUTE_MS };
    const connections = await Promise.all(
      taken.map((agent) => world.life.machines.join({ ...agent.hello(), slots: 0, leaving }, agent.proof())),
    );

    await world.advance(110 * SECOND_MS);
    for (const { name } of taken) world.cloud.kill(name);
    for (const { id, epoch } of connections) world.life.machines.leave(id, epoch);
    await world.advance(5 * MINUTE_MS);

    expect(freezes(world)).toEqual([]);
    expect([...world.agents.runs.values()].toSorted()).toEqual([1, 2, 2, 2]);
  });

  it('freezes nothing any more once the pools are being removed: they go when their machines have gone', async () => {
    const pools = ['a', 'b'].map((name) => aPool({ maxAgents: 4, minIdleSlots: 2, maxIdleSlots: 4 }, { name }));
    const world = await openPoolWorld({ pools });
    await world.advance(2 * MINUTE_MS);
    for (const name of names(world)) world.cloud.kill(name);
    await world.advance(MINUTE_MS);
    const before = freezes(world).length;

    for (const { id } of [...world.life.store.view.pools.all()]) await remove(world, id);
    await world.advance(5 * MINUTE_MS);

    expect(before).toBeGreaterThan(0);
    expect(freezes(world)).toEqual([]);
    expect(world.life.store.view.workers.size).toBe(0);
  });

  it('is not what earlier losses become when the fleet shrinks on purpose, pool after pool', async () => {
    const pools = Array.from({ length: 30 }, (_, at) => aPool({ minIdleSlots: 1 }, { name: `p${at}` }));
    const world = await openPoolWorld({ pools });
    await world.advance(MINUTE_MS);
    const [lost, deleted] = [pools.slice(0, 4), pools.slice(4)];
    const isLost = new Set(lost.map(({ id }) => id));
    const workers = [...world.life.store.view.workers.all()];
    world.agents.cutOff(
      workers.filter(({ pool }) => isLost.has(pool)).map(({ id }) => id),
      true,
    );

    for (const { id } of deleted) {
      await remove(world, id);
      await world.advance(10 * SECOND_MS);
    }
    await world.advance(MINUTE_MS);

    expect(freezes(world)).toEqual([]);
    const left = new Set([...world.life.store.view.workers.all()].map(({ pool }) => pool));
    expect(deleted.filter(({ id }) => left.has(id))).toEqual([]);
  });

  it('is not what earlier losses become when a pool shrinks on purpose', async () => {
    const pool = aPool({ maxAgents: 20, minIdleSlots: 15, maxIdleSlots: 15, idleDecayMs: MINUTE_MS });
    const world = await openPoolWorld({ pools: [pool] });
    await world.advance(MINUTE_MS);
    world.agents.cutOff(names(world).slice(0, 4), true);
    await world.advance(MINUTE_MS);

    await world.set({ ...pool, revision: 2, spec: { ...pool.spec, scaling: { ...pool.spec.scaling, ...FEW } } });
    await world.advance(3 * MINUTE_MS);

    expect(freezes(world)).toEqual([]);
    expect(world.phases()).toContain('4 lost');
  });

  it('is what the loss of all that is left is, also after other losses and a shrink on purpose', async () => {
    const pool = aPool({ maxAgents: 20, minIdleSlots: 15, maxIdleSlots: 15, idleDecayMs: MINUTE_MS });
    const world = await openPoolWorld({ pools: [pool] });
    await world.advance(MINUTE_MS);
    world.agents.cutOff(names(world).slice(0, 4), true);
    await world.set({ ...pool, revision: 2, spec: { ...pool.spec, scaling: { ...pool.spec.scaling, ...FEW } } });
    await world.advance(3 * MINUTE_MS);

    world.agents.cutOff(names(world), true);
    await world.advance(SECOND_MS);

    expect(freezes(world)).toMatchObject([{ id: 'id-gpu', automatic: true }]);
  });

  it('of machines too starts nothing anew until an operator thaws', async () => {
    const world = await withBusy(5);
    for (const name of names(world)) world.cloud.kill(name);

    await world.advance(MINUTE_MS);
    const during = [...world.agents.runs.values()];
    await world.life.workers.thaw('id-gpu', OPS);
    await world.advance(2 * MINUTE_MS);

    expect(during).toEqual([1, 1, 1, 1, 1]);
    expect([...world.agents.runs.values()]).toEqual([2, 2, 2, 2, 2]);
    expect(freezes(world)).toEqual([]);
  });

  it.each([
    [2, 2],
    [3, 10],
  ])('is not what the loss of %i of %i is', async (lost, all) => {
    const world = await withBusy(all);

    world.agents.cutOff(names(world).slice(0, lost), true);
    await world.advance(MINUTE_MS);

    expect(freezes(world)).toEqual([]);
  });

  it('is not what losses over many hours are', async () => {
    const world = await withBusy(6);

    for (const name of names(world).slice(0, 4)) {
      world.agents.cutOff([name], true);
      await world.advance(20 * MINUTE_MS);
    }

    expect(freezes(world)).toEqual([]);
  });

  it('by an empty listing deletes nothing and launches nothing, and ends with the next good one', async () => {
    const pool = aPool({ minIdleSlots: 5, maxIdleSlots: 5, maxAgents: 20, syncEveryMs: 10_000 });
    const world = await openPoolWorld({ pools: [pool], cloud: { bootMs: 10 * MINUTE_MS } });
    await world.advance(MINUTE_MS);
    const before = writes(world);
    world.cloud.script = ({ name }) => (name === 'list' ? { is: 'answer', of: () => [] } : undefined);

    await world.advance(5 * MINUTE_MS);
    const during = [freezes(world).length, writes(world)];
    world.cloud.script = () => undefined;
    await world.advance(MINUTE_MS);

    expect(during).toEqual([1, before]);
    expect(freezes(world)).toEqual([]);
    expect(world.phases()).toBe('5 booting');
  });

  it('across pools freezes the fleet, also where no pool alone lost enough', async () => {
    const pools = Array.from({ length: 4 }, (_, at) => aPool({ minIdleSlots: 1 }, { name: `p${at}` }));
    const world = await openPoolWorld({ pools });
    await world.advance(MINUTE_MS);
    const before = writes(world);

    world.agents.cutOff(names(world), true);
    await world.advance(20 * MINUTE_MS);
    const during = { freezes: freezes(world).map((row) => row.id), writes: writes(world) };
    world.agents.cutOff(names(world), false);
    await world.advance(SECOND_MS);

    expect(during).toEqual({ freezes: ['fleet'], writes: before });
    expect(freezes(world)).toEqual([]);
    expect(world.disk.histories.events).toContainEqual(
      expect.objectContaining({
        kind: 'fleet.frozen',
        subject: 'fleet',
        message: expect.stringMatching(/^Frozen: \d of 4 workers disconnected at once\..* run `muster thaw`\.$/),
      }),
    );
  });

  it('is not what agents do that leave a manual pool without work', async () => {
    const manual = aPool({ maxAgents: 0 }, { offers: [], agentAuth: 'network', agentNetworks: ['10.0.0.0/8'] });
    const world = await openPoolWorld({ pools: [manual] });
    const about = {
      slots: 1,
      labels: {},
      wire: 'muster',
      version: '1',
      hostname: '',
      address: '',
      executions: [],
    } as const;
    const joined = ['a', 'b', 'c'].map((name) => {
      return world.life.machines.join({ name, pool: 'gpu', ...about }, { peerAddress: '10.0.0.1' });
    });

    for (const { id, epoch } of await Promise.all(joined)) world.life.machines.leave(id, epoch);
    await world.advance(MINUTE_MS);

    expect(world.phases()).toBe('3 lost');
    expect(freezes(world)).toEqual([]);
  });

  it('after a restart is noticed when the grace is over', async () => {
    const world = await withBusy(5);
    const before = writes(world);
    world.crash();
    world.agents.cutOff(names(world), true);
    await world.advance(MINUTE_MS);

    await world.start();
    await world.advance(20 * MINUTE_MS);

    expect(freezes(world)).toMatchObject([{ id: 'id-gpu', automatic: true }]);
    expect(writes(world)).toBe(before);
  });

  it('that froze a pool still freezes it after a restart, until they are back', async () => {
    const world = await withBusy(5);
    world.agents.cutOff(names(world), true);
    await world.advance(10 * SECOND_MS);
    world.crash();

    await world.start();
    await world.advance(MINUTE_MS);
    const inGrace = freezes(world).length;
    await world.advance(10 * MINUTE_MS);
    const later = freezes(world).length;
    world.agents.cutOff(names(world), false);
    await world.advance(SECOND_MS);

    expect([inGrace, later, freezes(world).length]).toEqual([1, 1, 0]);
  });
});

describe('a pool that is removed while mass loss has frozen it or the fleet', () => {
  const frozenFleet = async () => {
    const pools = Array.from({ length: 6 }, (_, at) => aPool({ minIdleSlots: 1 }, { name: `p${at}` }));
    const world = await openPoolWorld({ pools });
    await world.life.submit('p1', 1, HOUR_MS);
    await world.advance(MINUTE_MS);
    const hosts = (id: string) => [...world.life.store.view.workers.by('pool', id)].map((worker) => worker.id);
    world.agents.cutOff(['id-p3', 'id-p4', 'id-p5'].flatMap(hosts), true);
    await world.advance(SECOND_MS);
    return { world, hosts };
  };

  it('goes where no session is left, while the freeze stays for the others', async () => {
    const { world, hosts } = await frozenFleet();
    const before = freezes(world).map(({ id }) => id);

    await remove(world, 'id-p0');
    await world.advance(2 * MINUTE_MS);

    expect([before, freezes(world).map(({ id }) => id)]).toEqual([['fleet'], ['fleet']]);
    expect(hosts('id-p0')).toEqual([]);
    expect(hosts('id-p2')).toHaveLength(1);
  });

  it('keeps its workers as long as one of its sessions runs', async () => {
    const { world, hosts } = await frozenFleet();
    const before = hosts('id-p1');

    await remove(world, 'id-p1');
    await world.advance(30 * MINUTE_MS);
    const during = hosts('id-p1');
    await world.advance(HOUR_MS);

    expect(during).toEqual(before);
    expect(hosts('id-p1')).toEqual([]);
    expect(freezes(world).map(({ id }) => id)).toEqual(['fleet']);
  });

  it('stays while a person has frozen the fleet, who may be stopping just that removal', async () => {
    const { world, hosts } = await frozenFleet();
    await world.life.workers.freeze('fleet', 'looking at something', OPS);

    await remove(world, 'id-p0');
    await world.advance(HOUR_MS);

    expect(hosts('id-p0')).toHaveLength(1);
  });
});

describe('a freeze that a restart found', () => {
  it('is lifted when the grace ends with all of them back, though nothing else happens', async () => {
    const world = await withBusy(5);
    world.agents.cutOff(names(world), true);
    await world.advance(10 * SECOND_MS);
    world.crash();
    world.agents.cutOff(names(world), false);

    await world.start();
    await world.advance(MINUTE_MS);
    const inGrace = freezes(world).length;
    await world.advance(MINUTE_MS + SECOND_MS);

    expect([inGrace, freezes(world).length]).toEqual([1, 0]);
  });
});

describe('a freeze by hand', () => {
  it.each(['id-gpu', 'fleet'])('of %s stops all action until thawed by hand', async (scope) => {
    const world = await withBusy(2);
    const [name = ''] = names(world);
    await world.life.workers.freeze(scope, 'looking at something', OPS);
    const before = writes(world);

    await world.life.submit('gpu', 5, MINUTE_MS);
    await world.life.workers.drain(name, OPS);
    await world.advance(2 * HOUR_MS);
    const during = writes(world);
    await world.life.workers.thaw(scope, OPS);
    await world.advance(MINUTE_MS);

    expect(during).toBe(before);
    expect(writes(world)).toBeGreaterThan(before);
  });

  it('is not lifted by anything but a hand', async () => {
    const world = await withBusy(5);
    await world.life.workers.freeze('id-gpu', 'looking at something', OPS);

    world.agents.cutOff(names(world), true);
    await world.advance(10 * MINUTE_MS);
    world.agents.cutOff(names(world), false);
    await world.advance(10 * MINUTE_MS);

    expect(freezes(world)).toMatchObject([{ automatic: false, by: 'ops' }]);
  });

  it('of something that is not there, or a thaw of what is not frozen, is refused', async () => {
    const world = await withBusy(1);

    await expect(world.life.workers.freeze('nobody', '', OPS)).rejects.toMatchObject({ kind: 'missing' });
    await expect(world.life.workers.thaw('id-gpu', OPS)).rejects.toMatchObject({ kind: 'missing' });
  });
});
