// Clouds that agree to make a machine first, and tell by an operation afterwards what became of it.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import { type SimCloudOptions, simCloud } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const PENDING_MS = 5 * SECOND_MS;
const NO_STOCK = new Fault('exhausted', 'The zone has no stock', { remedy: 'Choose another zone.' });

const callsOf = (world: PoolWorld, name: string) => world.cloud.calls.filter((call) => call.name === name);
const launches = (world: PoolWorld) => [...world.life.store.view.launches.all()];
const failures = (world: PoolWorld) =>
  [...world.life.store.view.workers.all()].flatMap(({ removal }) => (removal?.isNotMade && removal.fault) ?? []);

/** Lets time pass until that is so, a minute at most. */
async function waitUntil(world: PoolWorld, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo() && waited < 600; waited++) await world.advance(100);
}

/** One pool with one machine, whose cloud agrees first. */
async function openPending(cloud: Partial<SimCloudOptions> = {}, scaling: Parameters<typeof aPool>[0] = {}) {
  return openPoolWorld({
    pools: [aPool({ minAgents: 1, maxIdleSlots: 5, ...scaling })],
    cloud: { pendingMs: PENDING_MS, ...cloud },
  });
}

describe('a machine that its cloud has agreed to make', () => {
  it('is checked until its operation is over, and then no more', async () => {
    const world = await openPending();
    await world.advance(2 * SECOND_MS);
    const pending = { phases: world.phases(), open: launches(world).map(({ operations }) => operations) };
    await world.advance(MINUTE_MS);
    const checks = callsOf(world, 'check').length;
    await world.advance(60 * MINUTE_MS);

    expect(pending).toEqual({
      phases: '1 booting',
      open: [{ [callsOf(world, 'create')[0]?.names[0] ?? '']: expect.any(String) }],
    });
    expect(world.phases()).toBe('1 idle');
    expect(launches(world)).toEqual([]);
    expect(checks).toBeGreaterThan(2);
    expect(callsOf(world, 'check')).toHaveLength(checks);
  });

  it('is not taken for gone while its operation is open, though no listing shows it', async () => {
    const world = await openPending(
      { pendingMs: 5 * MINUTE_MS, listLagMs: 5 * MINUTE_MS, bootMs: 6 * MINUTE_MS },
      { syncEveryMs: 10 * SECOND_MS },
    );
    await world.advance(MINUTE_MS);
    world.crash();
    await world.start();
    await world.advance(7 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(world.cloud.made.size).toBe(1);
  });

  it('is checked no more once its agent has joined, whatever its operation does', async () => {
    const world = await openPending({ pendingMs: 60 * MINUTE_MS });
    await world.advance(MINUTE_MS);
    const checks = callsOf(world, 'check').length;
    await world.advance(10 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(launches(world)).toEqual([]);
    expect(callsOf(world, 'check')).toHaveLength(checks);
  });

  it('is looked for in the listing where its cloud has forgotten the operation', async () => {
    const world = await openPending({ bootMs: 10 * MINUTE_MS }, { syncEveryMs: 10 * SECOND_MS });
    world.cloud.script = ({ name }) => (name === 'check' ? { is: 'partial', of: () => 'skipped' } : undefined);
    await world.advance(10 * SECOND_MS);
    const [first = ''] = world.cloud.made.keys();
    const open = launches(world);
    world.cloud.kill(first);
    await world.advance(3 * MINUTE_MS);

    expect(open).toEqual([]);
    expect(world.cloud.made.size).toBe(2);
  });

  it('is looked for in the listing where its operation may not be read', async () => {
    const world = await openPending();
    const denied = new Fault('denied', 'No right to read operations.');
    world.cloud.script = ({ name }) => (name === 'check' ? { is: 'refused', fault: denied } : undefined);
    await world.advance(5 * MINUTE_MS);

    expect(world.phases()).toBe('1 idle');
    expect(launches(world)).toEqual([]);
    expect(callsOf(world, 'check')).toHaveLength(1);
  });

  it('that is removed meanwhile stays until its operation is over, and is deleted again then', async () => {
    const world = await openPending({ pendingMs: MINUTE_MS, bootMs: 5 * MINUTE_MS, listLagMs: 2 * MINUTE_MS });
    await world.advance(5 * SECOND_MS);
    const [name = ''] = world.cloud.made.keys();
    // The cloud does not find it yet, and calls that a success.
    world.cloud.script = (call) =>
      call.name === 'delete' && call.nth === 1 ? { is: 'partial', of: () => 'forgotten' } : undefined;
    await world.life.workers.drain(name, { who: 'ops', from: 'here' });
    await world.advance(50 * SECOND_MS);
    const before = world.life.store.view.workers.get(name)?.removal;
    await world.advance(30 * SECOND_MS);

    expect(before).toBeDefined();
    expect(callsOf(world, 'delete').map(({ names }) => names)).toEqual([[name], [name]]);
    expect(world.cloud.machines().map((made) => made.name)).not.toContain(name);
  });

  it('costs few checks where there are many, and none while nothing is pending', async () => {
    const world = await openPending(
      { pendingMs: 10 * MINUTE_MS, bootMs: 11 * MINUTE_MS },
      { minAgents: 60, maxAgents: 60, maxIdleSlots: 60 },
    );
    await world.advance(10 * MINUTE_MS);
    const names = callsOf(world, 'check').flatMap((call) => call.names).length;
    await world.advance(2 * MINUTE_MS);
    const checks = callsOf(world, 'check').length;
    await world.advance(60 * MINUTE_MS);

    expect(names).toBeLessThanOrEqual(5 * 600);
    expect(world.phases()).toBe('60 idle');
    expect(callsOf(world, 'check')).toHaveLength(checks);
  });
});

describe('a machine that its cloud agreed to make and does not', () => {
  it('counts for nothing from then on: the next offer may have all machines that the pool may have', async () => {
    const world = await openPending({}, { minAgents: 2, maxAgents: 2, retryDelayMs: SECOND_MS });
    world.cloud.failsLate = () => (callsOf(world, 'create').length === 1 ? NO_STOCK : undefined);
    world.cloud.script = ({ name }) => (name === 'delete' ? { is: 'hang', isDone: false } : undefined);
    await waitUntil(world, () => failures(world).length > 0);
    await world.advance(2 * SECOND_MS);

    expect(failures(world)).toHaveLength(2);
    expect(world.phases()).toBe('2 booting');
  });

  it('lets the next offer have its turn within a second of the check that tells, and is shown with its reason', async () => {
    const offers = [OFFER, { id: 'shape2', kind: 'other', config: {} }];
    const world = await openPoolWorld({
      pools: [aPool({ minAgents: 1, maxIdleSlots: 5 }, { offers })],
      cloud: { pendingMs: PENDING_MS },
      moreClouds: (clock) => ({ other: simCloud({ clock, cloud: 'other' }) }),
    });
    world.cloud.failsLate = () => NO_STOCK;
    await waitUntil(world, () => failures(world).length > 0);
    await world.advance(SECOND_MS);

    expect(world.clouds.other?.machines()).toHaveLength(1);
    expect(world.life.workers.trouble('id-gpu')?.message).toBe(
      'exhausted: The zone has no stock. Choose another zone.',
    );
    expect(callsOf(world, 'create')).toHaveLength(1);
  });

  it('is dropped when its cloud agrees that nothing is left of it, and another is asked for after the cool-down', async () => {
    const world = await openPending();
    world.cloud.failsLate = () => (callsOf(world, 'create').length === 1 ? NO_STOCK : undefined);
    await world.advance(30 * SECOND_MS);
    const [name = ''] = callsOf(world, 'create')[0]?.names ?? [];
    const cooling = { phases: world.phases(), rows: [...world.life.store.view.workers.all()] };
    await world.advance(3 * MINUTE_MS);

    expect(cooling).toEqual({ phases: 'none', rows: [] });
    expect(callsOf(world, 'delete').map(({ names }) => names)).toEqual([[name]]);
    expect(world.phases()).toBe('1 idle');
    expect(launches(world)).toEqual([]);
  });

  it('is found by the server that starts after its predecessor was dropped with the operation committed', async () => {
    const world = await openPending();
    world.cloud.failsLate = () => NO_STOCK;
    await waitUntil(world, () => callsOf(world, 'create').length > 0);
    await world.advance(SECOND_MS);
    await world.life.store.durable();
    world.crash();
    await world.advance(MINUTE_MS);
    world.cloud.failsLate = () => undefined;

    await world.start();
    await world.advance(3 * SECOND_MS);

    expect(failures(world)).toEqual([{ kind: 'exhausted', message: NO_STOCK.message, remedy: NO_STOCK.remedy }]);
    expect(world.life.workers.trouble('id-gpu')?.message).toBe(
      'exhausted: The zone has no stock. Choose another zone.',
    );
    expect(world.phases()).toBe('none');
  });

  it('is still known to the server that starts after the failure was committed', async () => {
    const world = await openPending();
    world.cloud.failsLate = () => NO_STOCK;
    world.cloud.script = ({ name }) => (name === 'delete' ? { is: 'hang', isDone: false } : undefined);
    await waitUntil(world, () => failures(world).length > 0);
    await world.life.store.durable();
    world.crash();
    await world.start();
    await world.advance(3 * SECOND_MS);

    expect(world.life.workers.trouble('id-gpu')?.message).toBe(
      'exhausted: The zone has no stock. Choose another zone.',
    );
    expect(callsOf(world, 'create')).toHaveLength(1);
  });
});

it('a launch that the previous version committed, without operations, is resolved by listings', async () => {
  const world = await openPending();
  await world.advance(SECOND_MS);
  world.crash();
  const rows = world.disk.rows.get('launches') as Map<string, { operations?: unknown; id: string }>;
  for (const [id, { operations: _operations, ...row }] of rows) rows.set(id, row);

  await world.start();
  await world.advance(2 * MINUTE_MS);

  expect(world.phases()).toBe('1 idle');
  expect(launches(world)).toEqual([]);
  expect(world.cloud.made.size).toBe(1);
});
