// A second feature asks for machines through the same functions as workers do: the use `computer`.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Machine } from '#core/provider.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import type { SimMachine } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld, type PoolWorldOptions } from '#sim/pool-world.ts';
import { DESK, type DeskMachine, startDesk } from './testing/desk.ts';

const doesBoot = ({ launch }: SimMachine): boolean => launch?.mark.use === 'worker';

async function open(options: PoolWorldOptions = {}) {
  const world = await openPoolWorld({ pools: [aPool({ minIdleSlots: 1 })], doesBoot, ...options });
  const rows = new Map<string, DeskMachine>();
  return { world, rows, computers: startDesk({ ...world.life, clock: world.clock }, rows) };
}

const uses = (world: PoolWorld) => world.cloud.machines().map(({ machine }) => machine.mark?.use);
const kinds = (world: PoolWorld) => world.disk.histories.events.map(({ kind }) => kind);
const listings = (world: PoolWorld) => world.cloud.calls.filter(({ name }) => name === 'list').length;

const orphan = (name: string, use: 'worker' | 'computer', more: Partial<Machine> = {}): Machine => {
  const mark = { cluster: 'cluster1', use, owner: use === 'worker' ? 'id-former' : DESK.id, shape: OFFER.id };
  return { name, mark, createdAt: Date.UTC(2026, 0, 1), state: 'running', ...more };
};

describe("a computer's machine in the account of a pool", () => {
  it('survives 20 listings, a restart and a restored backup, while an orphaned worker beside it is swept', async () => {
    const { world, rows, computers } = await open({ restoredAt: Date.UTC(2026, 0, 1) - MINUTE_MS });
    computers.create();
    await world.advance(MINUTE_MS);
    const [made] = rows.keys();

    for (const _ of Array(2)) {
      world.cloud.add(orphan(`m-orphan-${listings(world)}`, 'worker'));
      const before = listings(world);
      while (listings(world) < before + 20) await world.advance(MINUTE_MS);
      world.crash();
      await world.start();
      startDesk({ ...world.life, clock: world.clock }, rows);
    }
    await world.advance(5 * MINUTE_MS);

    expect(made).toMatch(/^c-desk-id-desk-/);
    expect([...rows.keys()]).toEqual([made]);
    expect(uses(world).toSorted()).toEqual(['computer', 'worker']);
    expect(world.phases()).toBe('1 idle');
    expect(kinds(world).filter((kind) => kind === 'machine.swept')).toHaveLength(2);
  });

  it('is not touched either where no feature has registered its use', async () => {
    const restoredAt = Date.UTC(2026, 0, 1) - MINUTE_MS;
    const world = await openPoolWorld({ restoredAt });
    world.cloud.add(orphan('c-older', 'computer', { createdAt: restoredAt - 1 }));
    world.cloud.add(orphan('c-newer', 'computer'));
    world.cloud.add(orphan('m-orphan', 'worker'));

    while (listings(world) < 20) await world.advance(MINUTE_MS);

    expect(world.cloud.machines().map(({ machine }) => machine.name)).toEqual(['c-older', 'c-newer']);
    expect([...world.life.store.view.workers.all()]).toEqual([]);
    expect(world.phases()).toBe('none');
  });
});

describe('the machine of a second feature', () => {
  it('is launched under its own mark, and found in the listing where the answer was lost', async () => {
    const { world, rows, computers } = await open();
    world.cloud.script = ({ name, launch }) =>
      name === 'create' && launch?.mark.use === 'computer' ? { is: 'lost reply' } : undefined;

    computers.create();
    const atOnce = [...rows.values()].map(({ createdAt }) => createdAt);
    await world.advance(2 * MINUTE_MS);

    const [row] = rows.values();
    expect(atOnce).toEqual([undefined]);
    expect(row?.createdAt).toBeDefined();
    expect(world.cloud.find(row?.machine ?? '')?.mark).toMatchObject({ use: 'computer', owner: DESK.id });
    expect(world.life.store.view.launches.size).toBe(0);
  });

  it('is missed when two listings do not show it', async () => {
    const { world, rows, computers } = await open();
    computers.create();
    await world.advance(2 * MINUTE_MS);

    world.cloud.kill([...rows.keys()][0] ?? '');
    await world.advance(2 * MINUTE_MS);

    expect([...rows.keys()]).toEqual([]);
    expect(kinds(world)).toContain('computer.gone');
    expect(world.phases()).toBe('1 idle');
  });

  it('is deleted until its cloud agrees, and its row goes when it is proven gone', async () => {
    const { world, rows, computers } = await open({ cloud: { deletingMs: MINUTE_MS } });
    computers.create();
    await world.advance(2 * MINUTE_MS);

    computers.remove();
    await world.advance(10 * SECOND_MS);
    const whileListed = rows.size;
    await world.advance(3 * MINUTE_MS);

    expect(whileListed).toBe(1);
    expect(rows.size).toBe(0);
    expect(uses(world)).toEqual(['worker']);
    expect(kinds(world)).toContain('computer.removed');
  });

  it('without a row is swept, and the worker beside it stays', async () => {
    const { world } = await open();
    await world.advance(MINUTE_MS);
    world.cloud.add(orphan('c-orphan', 'computer'));

    await world.advance(3 * MINUTE_MS);

    expect(uses(world)).toEqual(['worker']);
    expect(world.phases()).toBe('1 idle');
  });
});
