import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { offerOf } from '#config/offers.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Offer } from '#core/pool.ts';
import { type Backend, type Kinds, kind } from '#core/provider.ts';
import { count, secret } from '#core/schema.ts';
import { aPool } from '#core/testing/pool.ts';
import type { SimCloud } from '#sim/backend.ts';
import { openPoolWorld, type PoolWorld } from '#sim/pool-world.ts';

const LIMITS = { minIdleSlots: 2, maxIdleSlots: 2, maxAgents: 10 };

const config = z.strictObject({
  size: count(1).default(1),
  apiToken: secret(),
  keep: count().default(0).meta({ shapes: false }),
});

/** Accounts behind tokens `<account>/<serial>`: each call shows its token, and a revoked one is denied. */
function openAccounts() {
  const calls: string[] = [];
  const revoked = new Set<string>();
  const away = new Set<string>();
  const accountOf = new Map<string, string>();
  const kinds = (cloud: SimCloud, isAlive: () => boolean): Kinds<Backend> => ({
    rented: kind({
      summary: '',
      config,
      example: {},
      trust: 'any source',
      async open({ apiToken, keep }) {
        const account = apiToken.split('/')[0] ?? '';
        const show = (name: string): void => {
          calls.push(`${name} ${apiToken}`);
          if (away.has(account)) throw new Fault('unavailable', 'Nobody answers.');
          if (revoked.has(apiToken)) throw new Fault('denied', 'The token was revoked.');
        };
        const isHere = ({ name }: { name: string }): boolean => accountOf.get(name) === account;
        show('open');
        const backend = cloud.backend(isAlive);
        return {
          ...backend,
          cloud: `rented:${account}`,
          park: keep > 0 && backend.park ? { ...backend.park, most: keep } : undefined,
          async list(signal) {
            show('list');
            return (await backend.list(signal)).filter(isHere);
          },
          async create(launch, signal) {
            show('create');
            for (const name of launch.names) accountOf.set(name, account);
            return backend.create(launch, signal);
          },
          async delete(machines, signal) {
            show('delete');
            await backend.delete(machines.filter(isHere), signal);
            return machines.map(({ name }) => ({ name }));
          },
        };
      },
    }),
  });
  return { calls, revoked, away, accountOf, kinds };
}

type Accounts = ReturnType<typeof openAccounts>;

const offer = (apiToken: string, more: object = {}): Offer =>
  offerOf({ kind: 'rented', config: config.parse({ apiToken, ...more }) });
const pool = (offers: Offer[], revision = 1, name = 'gpu') => aPool(LIMITS, { name, offers }, { revision });
const names = (cloud: SimCloud): string[] => cloud.machines().map(({ machine }) => machine.name);

async function openRented(accounts: Accounts, isOld: { value: boolean } = { value: false }): Promise<PoolWorld> {
  const world = await openPoolWorld({
    pools: [pool([offer('one/1')])],
    kinds: accounts.kinds,
    hasShapes: () => !isOld.value,
    cloud: { park: { most: 2 } },
  });
  await world.advance(2 * MINUTE_MS);
  return world;
}

const offersOf = (world: PoolWorld): Set<string | undefined> =>
  new Set([...world.life.store.view.workers.all()].map((worker) => worker.offer));

describe('workers of an offer whose credential was rotated', () => {
  it('all stay, and the next call about them bears the new one', async () => {
    const accounts = openAccounts();
    const world = await openRented(accounts);
    const before = names(world.cloud);

    const foreseen = world.life.workers.foresee(pool([offer('one/2')], 2)).replaced;
    await world.set(pool([offer('one/2')], 2));
    await world.advance(SECOND_MS);
    accounts.revoked.add('one/1');
    accounts.calls.length = 0;
    await world.advance(30 * MINUTE_MS);
    const kept = names(world.cloud);
    await world.set(
      aPool({ ...LIMITS, minIdleSlots: 0, maxIdleSlots: 0 }, { offers: [offer('one/2')] }, { revision: 3 }),
    );
    await world.advance(10 * MINUTE_MS);

    expect(foreseen).toBe(0);
    expect(before).toHaveLength(2);
    expect(kept).toEqual(before);
    expect(new Set(accounts.calls)).toEqual(new Set(['list one/2', 'delete one/2']));
    expect(names(world.cloud)).toEqual([]);
  });

  it('stay where the old one was revoked while the server was down', async () => {
    const accounts = openAccounts();
    const world = await openRented(accounts);
    const before = names(world.cloud);
    await world.set(pool([offer('one/2')], 2));
    world.crash();
    accounts.revoked.add('one/1');

    await world.start();
    await world.advance(30 * MINUTE_MS);

    expect(names(world.cloud)).toEqual(before);
    expect(offersOf(world)).toEqual(new Set([offer('one/2').id]));
    expect(world.phases()).toBe('2 idle');
  });

  it('stay with a store of the version that made ids and marks of the whole configuration', async () => {
    const accounts = openAccounts();
    const isOld = { value: true };
    const world = await openRented(accounts, isOld);
    const before = names(world.cloud);
    const marks = world.cloud.machines().map(({ machine }) => machine.mark?.shape);
    world.crash();
    isOld.value = false;

    await world.start();
    await world.advance(30 * MINUTE_MS);
    const upgraded = names(world.cloud);
    await world.set(pool([offer('one/2', { keep: 2 })], 2));
    await world.advance(30 * MINUTE_MS);

    expect(marks).toEqual([offer('one/1').id, offer('one/1').id]);
    expect(upgraded).toEqual(before);
    expect(names(world.cloud)).toEqual(before);
    expect(world.phases()).toBe('2 idle');
  });

  it('are replaced where the new one is of another account, and leave no machine in the old', async () => {
    const accounts = openAccounts();
    const world = await openRented(accounts);
    const before = names(world.cloud);

    await world.set(pool([offer('two/1')], 2));
    await world.advance(30 * MINUTE_MS);

    expect(before.map((name) => accounts.accountOf.get(name))).toEqual(['one', 'one']);
    expect(names(world.cloud).map((name) => accounts.accountOf.get(name))).toEqual(['two', 'two']);
  });

  it('are not taken for gone where the old account does not answer for a while after a restart', async () => {
    const accounts = openAccounts();
    const world = await openRented(accounts);
    await world.set(pool([offer('two/1')], 2));
    world.crash();
    accounts.away.add('one');

    await world.start();
    await world.advance(30 * MINUTE_MS);
    const meanwhile = offersOf(world);
    accounts.away.delete('one');
    await world.advance(30 * MINUTE_MS);

    expect(meanwhile).toContain(offer('one/1').id);
    expect(names(world.cloud).map((name) => accounts.accountOf.get(name))).toEqual(['two', 'two']);
  });
});

it('pools of equal machines in two accounts keep to their own', async () => {
  const accounts = openAccounts();
  const world = await openRented(accounts);

  await world.set(pool([offer('two/1')], 1, 'cpu'));
  await world.advance(30 * MINUTE_MS);

  const places = world.cloud
    .machines()
    .map(({ machine }) => `${machine.mark?.owner} in ${accounts.accountOf.get(machine.name)}`);
  expect(places.toSorted()).toEqual(['id-cpu in two', 'id-cpu in two', 'id-gpu in one', 'id-gpu in one']);
});

it('a changed limit replaces no worker and holds from then on', async () => {
  const accounts = openAccounts();
  const world = await openRented(accounts);
  const before = names(world.cloud);

  await world.set(pool([offer('one/1', { keep: 2 })], 2));
  await world.advance(10 * MINUTE_MS);
  const kept = names(world.cloud);
  const none = { ...LIMITS, minIdleSlots: 0, maxIdleSlots: 0, idleDecayMs: 0 };
  await world.set(aPool(none, { offers: [offer('one/1', { keep: 2 })] }, { revision: 3 }));
  await world.advance(10 * MINUTE_MS);

  expect(kept).toEqual(before);
  expect(world.phases()).toBe('2 parked');
});
