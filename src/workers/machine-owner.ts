// Registers workers as a use of machines: their rows, their pools, and the consequences of machine events for a pool.
import type { Offer } from '#core/pool.ts';
import type { Machine } from '#core/provider.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { keepOffer } from '#machines/offers.ts';
import type { MachineOwner } from '#machines/owned-machines.ts';
import type { WorkersContext, WorkersDeps } from './context.ts';
import { isPoolHeld } from './freeze.ts';
import { connectWorker, type openJoining, workerNamed } from './join.ts';
import { launchAgreed, launchFailed } from './launch-failures.ts';
import { disconnectWorker } from './loss.ts';
import { observeAdopted } from './observation.ts';
import { isOutdated, priceOf } from './pool-offers.ts';

export interface AskerDeps extends Pick<WorkersDeps, 'store' | 'clouds' | 'journal' | 'link'> {
  readonly join: ReturnType<typeof openJoining>;
  poke(pool: string): void;
  context(): WorkersContext;
}

export function poolsAsAsker({ store, clouds, journal, link, join, poke, context }: AskerDeps): MachineOwner<Worker> {
  const { view } = store;

  function adopt(machine: Machine, offer: Offer): Change[] {
    const pool = view.pools.get(machine.mark?.owner ?? '');
    if (!pool) return [];
    observeAdopted(context(), machine.name);
    const { name: id, createdAt } = machine;
    const dates = { askedAt: createdAt, createdAt, joinedAt: createdAt };
    const pricePerHour = priceOf({ clouds }, pool.spec, offer.id);
    const message = 'Adopted: the machine was launched before the backup was restored.';
    return [
      ...keepOffer(store, offer),
      put('workers', { id, pool: pool.id, offer: offer.id, machine: id, pricePerHour, ...dates }),
      journal.event({ kind: 'machine.adopted', subject: `worker/${id}`, pool: pool.id, message }),
    ];
  }

  return {
    use: 'worker',
    noun: 'pool',
    get: (id) => view.workers.get(id),
    named: (machine) => workerNamed(store, machine),
    rowsOf: (pool) => view.workers.by('pool', pool),
    launched: (launch) => [...view.workers.by('launch', launch)][0],
    ownerOf: ({ pool }) => pool,
    isOwner: (id) => view.pools.get(id) !== undefined,
    ownerNamed(id) {
      const pool = view.pools.get(id);
      return pool && { name: pool.name, source: pool.owner.source };
    },
    orphansStayMs(id) {
      const pool = view.pools.get(id);
      return pool?.removal ? undefined : pool?.spec.scaling.killUnknownAfterMs;
    },
    isHeld: (pool) => isPoolHeld(store, pool),
    isWanted: ({ drain }) => !drain,
    isOutdated(worker) {
      const pool = view.pools.get(worker.pool);
      return pool !== undefined && isOutdated(context().owned.base, pool, worker);
    },
    keepsParked(id) {
      const pool = view.pools.get(id);
      return pool !== undefined && !pool.removal;
    },
    *offersInUse() {
      for (const { spec } of view.pools.all()) for (const { id } of spec.offers) yield id;
    },
    hasRowsOf: (offer) => view.workers.count('offer', offer) > 0,
    statedPrice: (id, offer) => view.pools.get(id)?.spec.terms?.[offer]?.pricePerHour,
    row: (pool, fields) => ({ ...fields, pool }),
    put: (worker) => put('workers', worker),
    drop: ({ id }) => [drop('workers', id)],
    event: ({ id, pool }, { kind, ...event }) =>
      journal.event({ kind: `worker.${kind}`, subject: `worker/${id}`, pool, ...event }),
    adopt,
    launchFailed(id, offer, fault) {
      const pool = view.pools.get(id);
      if (pool) launchFailed(context(), pool, { offer, fault });
    },
    launchAgreed: (id, offer) => launchAgreed(context(), id, offer),
    admit: join,
    connected: (worker, hello) => connectWorker(context(), worker, hello),
    disconnected: (agent) => disconnectWorker(context(), agent),
    leaving: ({ id }) => void link.send(id, { do: 'drain', stop: true }),
    removed: (id) => link.dismiss(id, 'This worker has been removed.'),
    poke,
  };
}
