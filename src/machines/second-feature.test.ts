// A second feature asks for machines through the same functions as workers do: the use `computer`.
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Machine } from '#core/provider.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import type { SimMachine } from '#sim/backend.ts';
import { type Life, openWorld, type World, type WorldOptions } from '#sim/part/world.ts';
import { type Asked, listedOf } from './asked.ts';
import { askFor } from './launch.ts';
import { isLost, lossOf } from './loss.ts';
import { afterListing } from './observation.ts';
import { carryOutRemovals, removalOf } from './removal.ts';
import { resolveLaunches } from './resolve-launches.ts';

const DESK = { id: 'id-desk', name: 'desk' };

interface Computer extends MachineRow {
  readonly owner: string;
}

interface Computers {
  readonly asked: Asked<Computer>;
  create(): void;
  remove(): void;
}

/** Its rows outlive the process, as those of a table do. */
function startComputers(
  { machines, store, journal, clouds }: Life,
  rows: Map<string, Computer>,
  world: World,
): Computers {
  const event = (kind: string, id: string, message: string) =>
    journal.event({ kind, subject: `computer/${id}`, message });
  const asked: Asked<Computer> = machines.register<Computer>(
    {
      use: 'computer',
      noun: 'computer',
      get: (id) => rows.get(id),
      named: (machine) => [...rows.values()].find((row) => row.machine === machine),
      rowsOf: () => [...rows.values()],
      ownerOf: ({ owner }) => owner,
      isOwner: (id) => id === DESK.id,
      isHeld: () => false,
      isWanted: () => true,
      isOutdated: () => false,
      keepsParked: () => false,
      offersInUse: () => [OFFER.id],
      hasRowsOf: () => rows.size > 0,
      priceOf: () => undefined,
      row: (owner, fields) => ({ ...fields, owner }),
      put(row) {
        rows.set(row.id, row);
        return event('computer.changed', row.id, 'Changed.');
      },
      drop({ id }) {
        rows.delete(id);
        return [];
      },
      event: ({ id }, { kind, message }) => event(`computer.${kind}`, id, message),
      bootOf: ({ agentConfig }) => ({ agentConfig, token: '' }),
      adopt: () => [],
      launchFailed: () => {},
      leaving: () => {},
      removed: () => {},
      poke: () => world.clock.soon(pass),
    },
    () => ({}),
  );

  function pass(): void {
    for (const row of [...rows.values()]) {
      const listing = clouds.listing(row.offer ?? '');
      const nowMs = world.clock.monotonic();
      const shown = { listing, machine: listedOf(asked, row), nowMs };
      asked.observations.observe(row, afterListing(asked.base, asked.observations.of(row), row, shown));
      if (!row.removal && isLost(row, asked.observations.of(row), listing)) asked.base.commit(lossOf(asked, row));
    }
    resolveLaunches(asked, DESK.id);
    carryOutRemovals(
      asked,
      [...rows.values()].filter((row) => row.removal),
    );
  }

  clouds.follow(DESK.id, [OFFER], 10 * SECOND_MS);
  asked.waiting.add(DESK.id);
  return {
    asked,
    create() {
      const record = { agentConfig: 'desk', count: 1, owner: DESK, offer: OFFER };
      asked.base.commit(askFor(asked, { ...record, event: ({ id }) => event('computer.asked', id, 'Asked.') }));
      pass();
    },
    remove() {
      asked.base.commit([...rows.values()].flatMap((row) => removalOf(asked, row, 'not needed')));
      void store.durable().then(pass);
    },
  };
}

const doesBoot = ({ launch }: SimMachine): boolean => launch?.mark.use === 'worker';

async function open(options: WorldOptions = {}) {
  const world = await openWorld({ pools: [aPool({ minIdleSlots: 1 })], doesBoot, ...options });
  const rows = new Map<string, Computer>();
  return { world, rows, computers: startComputers(world.life, rows, world) };
}

const uses = (world: World) => world.cloud.machines().map(({ machine }) => machine.mark?.use);
const kinds = (world: World) => world.disk.histories.events.map(({ kind }) => kind);
const listings = (world: World) => world.cloud.calls.filter(({ name }) => name === 'list').length;

const orphan = (name: string, use: 'worker' | 'computer', more: Partial<Machine> = {}): Machine => {
  const mark = { cluster: 'cluster1', use, owner: use === 'worker' ? 'id-gpu' : DESK.id, shape: OFFER.id };
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
      startComputers(world.life, rows, world);
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
    const world = await openWorld({ restoredAt });
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
