import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { LaunchRecord } from '#core/machine.ts';
import type { Mark } from '#core/provider.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type SimCloud, type SimEffect, simCloud } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const creates = (world: PoolWorld) =>
  world.cloud.calls.filter((call) => call.name === 'create').map((call) => call.names);
const events = (world: PoolWorld, kind: string) => world.disk.histories.events.filter((event) => event.kind === kind);

/** One effect for the first create, none for the others. */
function firstCreate(world: PoolWorld, effect: SimEffect): void {
  world.cloud.script = ({ name, nth }) => (name === 'create' && nth === 1 ? effect : undefined);
}

describe('a launch', () => {
  it('is durable before the cloud hears of it', async () => {
    const held: (() => void)[] = [];
    const onWrite = async (_nth: number, write: () => Promise<void>): Promise<void> => {
      await new Promise<void>((resolve) => held.push(resolve));
      return write();
    };
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })], onWrite });

    await world.advance(MINUTE_MS);
    const whileHeld = { creates: [...creates(world)], rows: world.disk.rows.get('launches')?.size ?? 0 };
    while (held.length > 0) {
      for (const release of held.splice(0)) release();
      await world.advance(SECOND_MS);
    }

    expect(whileHeld).toEqual({ creates: [], rows: 0 });
    expect(creates(world)).toHaveLength(1);
  });

  it('whose reply was lost is found in the listing, and nothing is made twice', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 2, maxIdleSlots: 2 })] });
    firstCreate(world, { is: 'lost reply' });

    await world.advance(2 * MINUTE_MS);

    expect(world.phases()).toBe('2 idle');
    expect(world.cloud.machines()).toHaveLength(2);
    expect(creates(world)).toHaveLength(1);
    expect(world.life.store.view.launches.size).toBe(0);
  });

  it('that two listings do not show is repeated under the same names', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 2, maxIdleSlots: 2 })] });
    firstCreate(world, { is: 'hang', isDone: false });

    await world.advance(5 * MINUTE_MS);

    const [first, second, third] = creates(world);
    expect(second).toEqual(first);
    expect(third).toBeUndefined();
    expect(world.phases()).toBe('2 idle');
  });

  it('sends the same bytes when repeated, whatever the pool says meanwhile', async () => {
    const pool = aPool({ minIdleSlots: 1 });
    const world = await openPoolWorld({ pools: [pool] });
    firstCreate(world, { is: 'hang', isDone: false });
    await world.advance(SECOND_MS);
    const [record] = world.life.store.view.launches.all();

    await world.set({ ...pool, revision: 2, name: 'renamed' });
    await world.advance(5 * MINUTE_MS);

    const [made] = world.cloud.machines();
    expect(made?.launch).toMatchObject({ id: record?.id, mark: record?.mark, boot: { agentConfig: 'pool: gpu' } });
    expect(made?.launch?.boot.token).toBe(world.life.access.launchToken(record?.id ?? ''));
  });

  it('that the previous version committed is repeated as that of a worker', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })] });
    firstCreate(world, { is: 'hang', isDone: false });
    await world.advance(SECOND_MS);
    world.crash();
    const rows = world.disk.rows.get('launches') as Map<string, LaunchRecord>;
    for (const [id, { mark, ...row }] of rows) {
      const { cluster, owner, shape } = mark;
      rows.set(id, { ...row, mark: { cluster, pool: owner, shape } as unknown as Mark });
    }

    await world.start();
    await world.advance(5 * MINUTE_MS);

    const mark = { cluster: world.life.store.cluster, use: 'worker', owner: 'id-gpu', shape: OFFER.id };
    expect(world.cloud.machines().map(({ launch }) => launch?.mark)).toEqual([mark]);
    expect(world.phases()).toBe('1 idle');
  });

  it('is judged name by name: made, refused, made in silence, never made', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 4, maxIdleSlots: 4, maxAgents: 4 })] });
    const seen = new Map<string, Fault | 'silent' | 'skipped' | undefined>();
    const fates = [undefined, new Fault('exhausted', 'none left'), 'silent', 'skipped'] as const;
    firstCreate(world, {
      is: 'partial',
      of(name) {
        seen.set(name, fates[seen.size]);
        return seen.get(name);
      },
    });

    await world.advance(SECOND_MS);
    const atOnce = world.phases();
    await world.advance(5 * MINUTE_MS);

    const [made = '', refused = '', silent = '', skipped = ''] = [...seen.keys()];
    expect(atOnce).toBe('2 launching, 1 booting');
    expect(world.phases()).toBe('4 idle');
    const names = world.cloud.machines().map((each) => each.name);
    expect(names).toEqual(expect.arrayContaining([made, silent]));
    expect(names).not.toContain(refused);
    expect(names).not.toContain(skipped);
    expect(events(world, 'worker.failed').map((event) => event.subject)).toEqual([
      `worker/${refused}`,
      `worker/${skipped}`,
    ]);
  });

  it('that failed is tried again after the cool-down, and not before', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, retryDelayMs: 5 * MINUTE_MS, errorResetAfterMs: 6 * MINUTE_MS })],
    });
    firstCreate(world, { is: 'refused', fault: new Fault('quota', 'limit reached') });

    await world.advance(4 * MINUTE_MS);
    const cooling = { calls: creates(world).length, why: world.life.workers.plan('id-gpu').why };
    await world.advance(2 * MINUTE_MS);

    expect(cooling.calls).toBe(1);
    expect(cooling.why).toBe(
      '0 queued and 0 idle, below min_idle 1, but launching failed (quota: limit reached. Raise the limit of the account or of the pool.).',
    );
    expect(world.phases()).toBe('1 idle');
  });

  it('whose error is forgotten sooner than it may be retried is tried as soon as that', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, retryDelayMs: 10 * MINUTE_MS, errorResetAfterMs: MINUTE_MS })],
    });
    firstCreate(world, { is: 'refused', fault: new Fault('quota', 'limit reached') });

    await world.advance(MINUTE_MS + 5 * SECOND_MS);

    expect(creates(world)).toHaveLength(2);
  });

  it.each(['an agent joins', 'the pool is changed'])('is tried at once when %s', async (how) => {
    const pool = aPool({ minIdleSlots: 1, retryDelayMs: 60 * MINUTE_MS, errorResetAfterMs: 60 * MINUTE_MS });
    const world = await openPoolWorld({ pools: [pool] });
    await world.advance(MINUTE_MS);
    const [name = ''] = world.agents.all.keys();
    world.cloud.script = ({ name: call, nth }) =>
      call === 'create' && nth === 2 ? { is: 'refused', fault: new Fault('quota', 'no') } : undefined;
    await world.life.submit(pool.name, 2, 60 * MINUTE_MS);
    await world.advance(MINUTE_MS);
    expect(creates(world)).toHaveLength(2);

    if (how === 'an agent joins') {
      world.agents.cutOff([name], true);
      world.agents.cutOff([name], false);
    } else await world.set({ ...pool, revision: 2 });
    await world.advance(SECOND_MS);

    expect(creates(world)).toHaveLength(3);
  });

  it('turns to the next offer within a second when the first has no capacity', async () => {
    const offers = [OFFER, { id: 'shape2', kind: 'other', config: {} }];
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1 }, { offers })],
      moreClouds: (clock) => ({ other: simCloud({ clock, cloud: 'other' }) }),
    });
    world.cloud.script = ({ name }) =>
      name === 'create' ? { is: 'refused', fault: new Fault('exhausted', 'none left') } : undefined;

    await world.advance(SECOND_MS);

    expect(creates(world)).toHaveLength(1);
    expect(world.clouds.other?.machines()).toHaveLength(1);
  });

  it('turns to the next offer where the first cannot even be opened, and tries that ever less often', async () => {
    let opened = 0;
    const away: SimCloud = {
      ...simCloud({ clock: new VirtualClock() }),
      backend() {
        opened += 1;
        throw new Fault('unavailable', 'nobody gives credentials');
      },
    };
    const offers = [{ id: 'bad', kind: 'away', config: {} }, OFFER];
    const world = await openPoolWorld({
      pools: [aPool({ minAgents: 1, maxAgents: 1 }, { offers })],
      moreClouds: () => ({ away }),
    });

    await world.advance(120 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(opened).toBeLessThan(200);
  });

  it('that hangs delays only its own pool', async () => {
    const slow = aPool({ minIdleSlots: 1 }, { name: 'slow' });
    const quick = aPool({ minIdleSlots: 1 }, { name: 'quick' });
    const world = await openPoolWorld({ pools: [slow, quick] });
    world.cloud.script = ({ name, names }) =>
      name === 'create' && names[0]?.includes('slow') ? { is: 'hang', isDone: false } : undefined;

    await world.advance(30 * SECOND_MS);

    expect([world.phases(slow.id), world.phases(quick.id)]).toEqual(['1 launching', '1 idle']);
  });

  it('that is no longer needed before the cloud was called makes nothing', async () => {
    const pool = aPool({ minIdleSlots: 1 });
    const world = await openPoolWorld({ pools: [pool] });
    await world.life.workers.freeze('fleet', 'test', { who: 'ops', from: 'here' });
    await world.advance(SECOND_MS);
    await world.life.workers.thaw('fleet', { who: 'ops', from: 'here' });
    const stop = world.life.store.onChange('launches', (after) => {
      if (after) void world.life.workers.freeze(pool.id, 'test', { who: 'ops', from: 'here' });
    });
    await world.advance(SECOND_MS);
    stop();
    const frozen = { calls: creates(world).length, rows: world.life.store.view.launches.size };

    await world.set({ ...pool, removal: { at: 0, deadlineAt: world.clock.now() + MINUTE_MS, why: 'gone' } });
    await world.life.workers.thaw(pool.id, { who: 'ops', from: 'here' });
    await world.advance(MINUTE_MS);

    expect(frozen).toEqual({ calls: 0, rows: 1 });
    expect(creates(world)).toEqual([]);
    expect(world.phases()).toBe('none');
    expect(world.life.store.view.launches.size).toBe(0);
  });
});

describe('a machine that does not join', () => {
  it('is deleted and replaced after boot_timeout', async () => {
    const dead = new Set<string>();
    const doesBoot = (made: { name: string }): boolean => {
      if (dead.size === 0) dead.add(made.name);
      return !dead.has(made.name);
    };
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1, bootTimeoutMs: 5 * MINUTE_MS })], doesBoot });

    await world.advance(5 * MINUTE_MS);
    const before = world.phases();
    await world.advance(2 * MINUTE_MS);

    expect([before, world.phases()]).toEqual(['1 booting', '1 idle']);
    expect(world.cloud.machines().map((made) => made.name)).not.toContain([...dead][0]);
  });

  it('is followed by fewer and fewer others, one at a time, until one joins', async () => {
    let isFixed = false;
    const pool = aPool({ minIdleSlots: 3, maxIdleSlots: 3, bootTimeoutMs: 2 * MINUTE_MS, maxAgents: 10 });
    const world = await openPoolWorld({ pools: [pool], doesBoot: () => isFixed });

    await world.advance(4 * MINUTE_MS);
    const guarded = world.life.workers.plan(pool.id).why;
    await world.advance(4 * 60 * MINUTE_MS);
    const launches = creates(world).map((names) => names.length);
    isFixed = true;
    await world.advance(40 * MINUTE_MS);

    expect(guarded).toMatch(/did not join/);
    expect(launches[0]).toBe(3);
    expect(launches.slice(1).every((count) => count === 1)).toBe(true);
    expect(launches.length).toBeLessThan(14);
    expect(world.phases()).toBe('3 idle');
  });

  it('is deleted and replaced as soon as the cloud says that it never will', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, syncEveryMs: 10_000 })],
      cloud: { bootMs: 3_600_000 },
    });
    await world.advance(SECOND_MS);
    const [made] = world.cloud.machines();

    world.cloud.trouble(made?.name ?? '', { kind: 'exhausted', message: 'no stock in the zone', final: true });
    await world.advance(30 * SECOND_MS);
    const cooling = world.life.workers.plan('id-gpu').why;
    await world.advance(MINUTE_MS);

    expect(cooling).toMatch(/launching failed \(exhausted: no stock in the zone\)/);
    expect(world.cloud.machines()).toHaveLength(1);
    expect(world.cloud.machines()[0]?.name).not.toBe(made?.name);
  });

  it('is waited for while the cloud still tries', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, syncEveryMs: 10_000 })],
      cloud: { bootMs: 5 * MINUTE_MS },
    });
    await world.advance(SECOND_MS);
    const [made] = world.cloud.machines();

    world.cloud.trouble(made?.name ?? '', { kind: 'exhausted', message: 'bid still open', final: false });
    await world.advance(6 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(creates(world)).toHaveLength(1);
  });

  it('and is gone from the cloud is replaced after two listings', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, syncEveryMs: 10_000 })],
      cloud: { bootMs: 10 * MINUTE_MS },
    });
    await world.advance(SECOND_MS);
    const [made] = world.cloud.machines();
    world.cloud.kill(made?.name ?? '');

    await world.advance(3 * MINUTE_MS);

    expect(events(world, 'worker.gone').map((event) => event.subject)).toEqual([`worker/${made?.name}`]);
    expect(world.cloud.machines()).toHaveLength(1);
  });

  it('gets its time also after a restart, when no server could admit it', async () => {
    const world = await openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, bootTimeoutMs: 5 * MINUTE_MS })],
      cloud: { bootMs: MINUTE_MS },
    });
    await world.advance(SECOND_MS);

    world.crash();
    await world.advance(60 * MINUTE_MS);
    await world.start();
    await world.advance(MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(creates(world)).toHaveLength(1);
  });
});
