import type { Computer } from '#core/computer.ts';
import type { Pool } from '#core/pool.ts';
import type { Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import type { PoolSeat } from './agent-slots.ts';
import { isComputerKept } from './owner.ts';
import { makePoolQueue, type PoolQueue } from './queue.ts';

/** The queues of all pools, kept in step with the rows: queued sessions, and agents with free slots. */
export interface PoolQueues {
  /** Undefined where no session has waited and no slot was free yet. */
  find(pool: string): PoolQueue | undefined;
  /** Pools that have had queued sessions or seats. */
  pools(): Iterable<string>;
  /** Computes the free slots of one agent again. */
  reseat(agent: string): void;
  stop(): void;
}

interface Options {
  readonly store: Store;
  seat(agent: string): PoolSeat | undefined;
  /** This pool may now have a session that can be placed. */
  changed(pool: string): void;
}

const isQueued = (session: Session | undefined): session is Session => session !== undefined && !session.worker;

const offersSame = (a: Pool | undefined, b: Pool | undefined): boolean =>
  a?.pausedAt === b?.pausedAt && a?.removal === b?.removal && a?.spec.labels === b?.spec.labels;

export function openPoolQueues({ store, seat, changed }: Options): PoolQueues {
  const queues = new Map<string, PoolQueue>();
  // By agent: the pool where it has, or last had, free slots.
  const seatedIn = new Map<string, string>();

  function queue(pool: string): PoolQueue {
    const found = queues.get(pool) ?? makePoolQueue();
    queues.set(pool, found);
    return found;
  }

  function reseat(agent: string): void {
    const found = seat(agent);
    const before = seatedIn.get(agent);
    if (before !== undefined && before !== found?.pool) queues.get(before)?.seat(agent, undefined);
    if (!found) return;
    if (before !== found.pool) seatedIn.set(agent, found.pool);
    queue(found.pool).seat(agent, found);
    changed(found.pool);
  }

  function sessionChanged(after: Session | undefined, before: Session | undefined): void {
    if (isQueued(before) && !isQueued(after)) queue(before.pool).remove(before);
    if (isQueued(after)) {
      queue(after.pool).add(after);
      changed(after.pool);
    }
    if (before?.worker !== undefined && before.worker !== after?.worker) reseat(before.worker);
    if (after?.worker !== undefined && before?.worker !== after.worker) reseat(after.worker);
  }

  function poolChanged(after: Pool | undefined, before: Pool | undefined, id: string): void {
    if (offersSame(after, before)) return;
    for (const worker of store.view.workers.by('pool', id)) reseat(worker.id);
    if (!after && store.view.sessions.count('queue', id) === 0) queues.delete(id);
    changed(id);
  }

  function computerChanged(after: Computer | undefined, before: Computer | undefined, id: string): void {
    if (isComputerKept(after) === isComputerKept(before)) return;
    for (const machine of store.view.computerMachines.by('computer', id)) reseat(machine.id);
    if (!after && store.view.sessions.count('queue', id) === 0) queues.delete(id);
    changed(id);
  }

  const subscriptions = [
    store.onChange('sessions', sessionChanged),
    store.onChange('agents', (after, _before, id) => {
      reseat(id);
      if (!after) seatedIn.delete(id);
    }),
    store.onChange('workers', (_after, _before, id) => reseat(id)),
    store.onChange('pools', poolChanged),
    store.onChange('computerMachines', (_after, _before, id) => reseat(id)),
    store.onChange('computers', computerChanged),
  ];
  for (const session of store.view.sessions.all()) if (isQueued(session)) queue(session.pool).add(session);

  return {
    find: (pool) => queues.get(pool),
    pools: () => queues.keys(),
    reseat,
    stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}
