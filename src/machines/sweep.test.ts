import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Machine, Mark } from '#core/provider.ts';
import { aPool } from '#core/testing/pool.ts';
import { openPoolWorld, type PoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';

const OPS = { who: 'ops', from: 'here' };

const ours: Mark = { cluster: 'cluster1', use: 'worker', owner: 'id-gpu', shape: 'shape1' };
const orphan = (name: string, more: Partial<Machine> = {}): Machine => {
  return { name, mark: ours, createdAt: 0, state: 'running', ...more };
};
const there = (world: PoolWorld) => world.cloud.machines().map((made) => made.machine.name);
const deletes = (world: PoolWorld) => world.cloud.calls.filter((call) => call.name === 'delete').length;

describe('a machine that bears our mark and has no row', () => {
  const gone: Mark = { ...ours, owner: 'forgotten' };

  it('and whose pool is no more is deleted after two listings, not after one', async () => {
    const world = await openPoolWorld();
    await world.advance(SECOND_MS);
    world.cloud.add(orphan('m-old', { mark: gone }));

    await world.advance(MINUTE_MS);
    const afterOne = there(world);
    await world.advance(MINUTE_MS);

    expect(afterOne).toEqual(['m-old']);
    expect(there(world)).toEqual([]);
    expect(world.disk.histories.events.filter((event) => event.kind === 'machine.swept')).toHaveLength(1);
  });

  it('stays, where it is made for something other than a worker, whatever the backup knew', async () => {
    const restoredAt = Date.UTC(2026, 0, 1) - MINUTE_MS;
    const world = await openPoolWorld({ restoredAt });
    for (const [name, createdAt] of [
      ['c-older', restoredAt - 1],
      ['c-newer', restoredAt + 1],
    ] as const)
      world.cloud.add(orphan(name, { mark: { ...ours, use: 'computer', owner: 'id-desk' }, createdAt }));
    world.cloud.add(orphan('m-old', { mark: gone, createdAt: restoredAt + 1 }));

    for (let listing = 0; listing < 20; listing += 1) await world.advance(MINUTE_MS);
    world.crash();
    await world.start();
    for (let listing = 0; listing < 20; listing += 1) await world.advance(MINUTE_MS);

    expect(there(world)).toEqual(['c-older', 'c-newer']);
    expect([...world.life.store.view.workers.all()]).toEqual([]);
  });

  it('is not asked to go twice while it goes', async () => {
    const world = await openPoolWorld({ cloud: { deletingMs: 10 * MINUTE_MS } });
    world.cloud.add(orphan('m-old', { mark: gone }));

    await world.advance(10 * MINUTE_MS);

    expect(deletes(world)).toBe(1);
  });

  it('is not asked to go twice while the first call hangs', async () => {
    const world = await openPoolWorld({ pools: [aPool({ syncEveryMs: 10 * SECOND_MS })] });
    world.cloud.add(orphan('m-old', { mark: gone }));
    let isHanging = true;
    world.cloud.script = ({ name }) => (name === 'delete' && isHanging ? { is: 'hang', isDone: false } : undefined);
    await world.advance(30 * MINUTE_MS);
    const before = deletes(world);

    isHanging = false;
    await world.advance(10 * MINUTE_MS);

    expect(there(world)).toEqual([]);
    expect(deletes(world) - before).toBeLessThanOrEqual(2);
  });

  it.each([{ is: 'lost reply' }, { is: 'hang', isDone: true }] as const)(
    'stays while it may be what an open launch has made, under a name of its cloud ($is)',
    async (effect) => {
      const pools = [aPool({ minAgents: 1, maxAgents: 1, syncEveryMs: 10 * SECOND_MS })];
      const world = await openPoolWorld({ pools, cloud: { nameOf: (name) => `i-${name}` } });
      world.cloud.script = ({ name, nth }) => (name === 'create' && nth === 1 ? effect : undefined);

      await world.advance(30 * MINUTE_MS);

      expect(world.phases()).toBe('1 idle');
      expect(world.disk.histories.events.filter(({ kind }) => kind === 'machine.swept')).toEqual([]);
    },
  );

  it('stays while its pool or the fleet is frozen or paused', async () => {
    const world = await openPoolWorld({ pools: [aPool({ killUnknownAfterMs: 1 }, {}, { pausedAt: 1 })] });
    world.cloud.add(orphan('m-old'));

    await world.advance(10 * MINUTE_MS);
    const paused = there(world);
    await world.set(aPool({ killUnknownAfterMs: 1 }, {}, { revision: 2 }));
    await world.life.workers.freeze('fleet', 'test', OPS);
    await world.advance(10 * MINUTE_MS);
    const frozen = there(world);
    await world.life.workers.thaw('fleet', OPS);
    await world.advance(4 * MINUTE_MS);

    expect([paused, frozen, there(world)]).toEqual([['m-old'], ['m-old'], []]);
  });

  it('is taken in where the store came from a backup that is newer than the machine', async () => {
    const restoredAt = Date.UTC(2026, 0, 1) - MINUTE_MS;
    const world = await openPoolWorld({ pools: [aPool({ minAgents: 1, maxIdleSlots: 5 })], restoredAt });
    world.cloud.add(orphan('m-older', { createdAt: restoredAt - 1 }));
    world.cloud.add(orphan('m-newer', { createdAt: restoredAt + 1 }));

    await world.advance(3 * MINUTE_MS);
    const proof = { peerAddress: '', token: world.life.access.launchToken('long gone'), key: 'k' };
    const about = {
      slots: 1,
      labels: {},
      wire: 'muster',
      version: '1',
      hostname: '',
      address: '',
      executions: [],
    } as const;
    const agent = await world.life.machines.join({ name: 'm-older', pool: 'gpu', ...about }, proof);

    expect(there(world)).toContain('m-older');
    expect(world.life.store.view.workers.get('m-newer')).toBeUndefined();
    expect(agent.id).toBe('m-older');
    expect(world.life.store.view.workers.get('m-older')).toMatchObject({ pool: 'id-gpu', offer: 'shape1' });
  });

  it('and is taken in counts as expected back, like after a restart', async () => {
    const restoredAt = Date.UTC(2026, 0, 1) - MINUTE_MS;
    const world = await openPoolWorld({ pools: [aPool({ maxAgents: 9, maxIdleSlots: 9 })], restoredAt });
    for (let at = 0; at < 5; at++) world.cloud.add(orphan(`m-${at}`, { createdAt: 0 }));

    await world.advance(2 * MINUTE_MS);

    expect(world.phases()).toBe('5 returning');
    expect(world.life.store.view.freezes.size).toBe(0);
  });

  it('and is taken in leaves nothing to launch in its place, and its agent is not sent away meanwhile', async () => {
    const restoredAt = Date.UTC(2026, 0, 1) - MINUTE_MS;
    const scaling = { minAgents: 2, maxAgents: 2, maxIdleSlots: 2 };
    const world = await openPoolWorld({ pools: [aPool(scaling)], restoredAt, cloud: { answerMs: 5 * SECOND_MS } });
    for (const name of ['m-1', 'm-2']) world.cloud.add(orphan(name, { createdAt: restoredAt - 1 }));
    const hello = { name: 'm-1', pool: 'gpu', slots: 1, labels: {}, version: '1', hostname: '', address: '' };
    const knock = () =>
      world.life.machines.join(
        { ...hello, wire: 'muster', executions: [] },
        { peerAddress: '', token: world.life.access.launchToken('long gone'), key: 'k' },
      );

    const early = await knock().catch((fault: Fault) => fault.kind);
    await world.advance(10 * SECOND_MS);
    const late = await knock();

    expect(early).toBe('unavailable');
    expect(late.id).toBe('m-1');
    expect(there(world).toSorted()).toEqual(['m-1', 'm-2']);
    expect(world.cloud.calls.filter(({ name }) => name === 'create')).toEqual([]);
  });

  it('and is taken in costs what its pool says', async () => {
    const restoredAt = Date.UTC(2026, 0, 1) - MINUTE_MS;
    const limits = { minAgents: 5, maxAgents: 9, maxIdleSlots: 9, maxPricePerHour: 9 };
    const pools = [aPool(limits, { terms: { shape1: { pricePerHour: 3 } } })];
    const world = await openPoolWorld({ pools, restoredAt });
    for (let at = 0; at < 2; at++) world.cloud.add(orphan(`m-${at}`, { createdAt: 0 }));

    await world.advance(MINUTE_MS);

    expect(there(world)).toHaveLength(3);
  });

  it('made late by a process that had lost its place is refused at the door and swept', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })] });
    world.cloud.script = ({ name, nth }) =>
      name === 'create' && nth === 1 ? { is: 'slow', ms: 10 * MINUTE_MS } : undefined;

    await world.advance(30 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(world.cloud.machines()).toHaveLength(1);
    expect(Math.max(...world.cloud.made.values())).toBe(1);
  });
});

describe('a machine with a foreign mark', () => {
  it('is never touched, nor counted', async () => {
    const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1, killUnknownAfterMs: MINUTE_MS })] });
    world.cloud.add(orphan('m-theirs', { mark: { ...ours, cluster: 'theirs' } }));

    await world.advance(30 * MINUTE_MS);

    expect(there(world)).toContain('m-theirs');
    expect(world.phases()).toBe('1 idle');
  });
});

describe('machines of a kind that cannot mark', () => {
  const open = (scaling = {}, more: Partial<PoolWorldOptions> = {}) =>
    openPoolWorld({
      pools: [aPool({ minIdleSlots: 1, ...scaling }, { agentAuth: 'network', agentNetworks: ['10.0.0.0/8'] })],
      cloud: { canMark: false, nameOf: (name) => `vm${name.slice(-4)}` },
      ...more,
    });

  it('are known by the names that their cloud gave them', async () => {
    const world = await open();

    await world.advance(5 * MINUTE_MS);

    const [worker] = world.life.store.view.workers.all();
    expect(world.phases()).toBe('1 idle');
    expect(worker?.machine).toBe(there(world)[0]);
    expect(worker?.id).not.toBe(worker?.machine);
  });

  it('are deleted by those names', async () => {
    const world = await open({ minIdleSlots: 0 });
    await world.life.submit('gpu', 1, SECOND_MS);

    await world.advance(10 * MINUTE_MS);

    expect(there(world)).toEqual([]);
    expect(world.phases()).toBe('none');
  });

  it('without a row count in the size, hold decisions back, and are left alone by default', async () => {
    const world = await open({ minAgents: 1, minIdleSlots: 0 });
    world.cloud.add(orphan('stranger', { mark: undefined }));

    await world.advance(60 * MINUTE_MS);

    expect(world.phases()).toBe('1 unknown');
    expect(there(world)).toEqual(['stranger']);
    expect(world.life.workers.plan('id-gpu').why).toMatch(/machines without a worker record/);
  });

  it('without a row hold launching back only until initial_delay', async () => {
    const world = await open({ minIdleSlots: 1, initialDelayMs: 5 * MINUTE_MS });
    world.cloud.add(orphan('stranger', { mark: undefined }));

    await world.advance(4 * MINUTE_MS);
    const before = world.phases();
    await world.advance(3 * MINUTE_MS);

    expect([before, world.phases()]).toEqual(['1 unknown', '1 idle, 1 unknown']);
  });

  it('without a row are deleted after kill_unknown_after, again where that failed', async () => {
    const world = await open({ minIdleSlots: 0, killUnknownAfterMs: 5 * MINUTE_MS });
    world.cloud.add(orphan('stranger', { mark: undefined }));
    const refusal = { is: 'refused', fault: new Fault('unavailable', 'not now') } as const;
    world.cloud.script = ({ name, nth }) => (name === 'delete' && nth === 1 ? refusal : undefined);

    await world.advance(4 * MINUTE_MS);
    const before = there(world);
    await world.advance(5 * MINUTE_MS);

    expect(before).toEqual(['stranger']);
    expect(there(world)).toEqual([]);
    expect(world.phases()).toBe('none');
    expect(world.disk.histories.decisions.filter(({ did }) => did === 'remove 1')).toHaveLength(2);
  });

  it.each(['skipped', 'forgotten'] as const)('without a row are deleted again where that was %s', async (how) => {
    const world = await open({ minIdleSlots: 0, maxAgents: 1, killUnknownAfterMs: 5 * MINUTE_MS });
    world.cloud.add(orphan('stranger', { mark: undefined }));
    world.cloud.script = ({ name, nth }) =>
      name === 'delete' && nth === 1 ? { is: 'partial', of: () => how } : undefined;

    await world.advance(60 * MINUTE_MS);

    expect(there(world)).toEqual([]);
    expect(world.phases()).toBe('none');
  });

  it('without a row become known when their agent joins', async () => {
    const world = await open({ minIdleSlots: 0, minAgents: 1, killUnknownAfterMs: 5 * MINUTE_MS });
    world.cloud.add(orphan('stranger', { mark: undefined }));
    await world.advance(MINUTE_MS);

    const about = {
      slots: 1,
      labels: {},
      wire: 'velda',
      version: '1',
      hostname: '',
      address: '',
      executions: [],
    } as const;
    await world.life.machines.join({ name: 'stranger', pool: 'gpu', ...about }, { peerAddress: '10.0.0.1' });
    await world.advance(30 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(there(world)).toEqual(['stranger']);
  });

  it('whose reply was lost are taken for the launch that asked for them, and not made again', async () => {
    const world = await open();
    world.cloud.script = ({ name, nth }) => (name === 'create' && nth === 1 ? { is: 'lost reply' } : undefined);

    await world.advance(5 * MINUTE_MS);

    expect(there(world)).toHaveLength(1);
    expect(world.phases()).toBe('1 idle');
    expect(world.cloud.calls.filter((call) => call.name === 'create')).toHaveLength(1);
  });
});
