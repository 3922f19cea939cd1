// The sums over all pools, and what each change of a row changes in them.
import type { Agent } from '#core/machine.ts';
import { noWorkers } from '#core/pool-counts.ts';
import { addPerHour, isPaid, nanoPrice, type PriceSum, perHourOf } from '#core/pool-price.ts';
import type { Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import { type Worker, type WorkerPhase, workerPhase } from '#core/worker.ts';

export interface FleetSums {
  readonly workers: Readonly<Record<WorkerPhase, number>>;
  /** Of pools and computers. */
  readonly sessions: { readonly queued: number; readonly running: number; readonly unknown: number };
  /** Of the workers of pools. */
  readonly price: Readonly<PriceSum>;
  /** Of one pool, by its id, in billionths of a dollar an hour. */
  priceNanoOf(pool: string): number;
  /** The ids of pools and computers that sessions wait for. */
  readonly waiting: ReadonlySet<string>;
  /** When the session was accepted that has waited longest. */
  queuedSince(): number | undefined;
}

export function openFleetSums(store: Pick<Store, 'view'>) {
  const { view } = store;
  const workers = noWorkers();
  const sessions = { queued: 0, running: 0, unknown: 0 };
  const price: PriceSum = { priceNano: 0, unpriced: 0 };
  const priceNano = new Map<string, number>();
  const waiting = new Set<string>();
  // They stand last in the queue of their pool, and may have waited longest.
  const requeued = new Set<string>();

  function addPhase(worker: Worker, agent: Agent | undefined, count: number, sign: 1 | -1): void {
    workers[workerPhase(worker, agent, count + (agent?.unknown?.length ?? 0))] += sign;
  }

  function addPrice(worker: Worker, perHour: number | undefined, sign: 1 | -1): void {
    if (!isPaid(worker)) return;
    addPerHour(price, perHour, sign);
    if (perHour === undefined) return;
    const ofPool = (priceNano.get(worker.pool) ?? 0) + sign * nanoPrice(perHour);
    if (ofPool === 0) priceNano.delete(worker.pool);
    else priceNano.set(worker.pool, ofPool);
  }

  function addSession({ worker }: Session, sign: 1 | -1): void {
    if (worker === undefined) sessions.queued += sign;
    else sessions[view.agents.get(worker) ? 'running' : 'unknown'] += sign;
  }

  function noteQueue({ id, pool, worker, attempt }: Session): void {
    if (view.sessions.count('queue', pool) > 0) waiting.add(pool);
    else waiting.delete(pool);
    if (worker === undefined && attempt > 0) requeued.add(id);
  }

  function placementChanged(worker: string | undefined, before: number): void {
    const row = worker === undefined ? undefined : view.workers.get(worker);
    if (!row) return;
    const agent = view.agents.get(row.id);
    const now = view.sessions.count('worker', row.id);
    addPhase(row, agent, now + before, -1);
    addPhase(row, agent, now, 1);
  }

  function queuedSince(): number | undefined {
    let since = Number.POSITIVE_INFINITY;
    for (const pool of waiting)
      for (const { acceptedAt } of Iterator.from(view.sessions.by('queue', pool)).take(1))
        since = Math.min(since, acceptedAt);
    for (const id of requeued) {
      const session = view.sessions.get(id);
      if (session?.worker === undefined && session) since = Math.min(since, session.acceptedAt);
      else requeued.delete(id);
    }
    return Number.isFinite(since) ? since : undefined;
  }

  const sums: FleetSums = {
    ...{ workers, sessions, price, waiting, queuedSince },
    priceNanoOf: (pool) => priceNano.get(pool) ?? 0,
  };
  return {
    sums,
    /** Adds a pool or a computer as it is now. */
    count(id: string): void {
      for (const worker of view.workers.by('pool', id)) {
        addPhase(worker, view.agents.get(worker.id), view.sessions.count('worker', worker.id), 1);
        addPrice(worker, perHourOf(store, worker), 1);
      }
      for (const session of view.sessions.by('pool', id)) {
        addSession(session, 1);
        noteQueue(session);
      }
    },
    workerChanged(after: Worker | undefined, before: Worker | undefined, id: string): void {
      const agent = view.agents.get(id);
      const count = view.sessions.count('worker', id);
      if (before) addPhase(before, agent, count, -1);
      if (before) addPrice(before, perHourOf(store, before), -1);
      if (after) addPhase(after, agent, count, 1);
      if (after) addPrice(after, perHourOf(store, after), 1);
    },
    agentChanged(after: Agent | undefined, before: Agent | undefined, id: string): void {
      const worker = view.workers.get(id);
      const count = view.sessions.count('worker', id);
      if (worker) addPhase(worker, before, count, -1);
      if (worker) addPhase(worker, after, count, 1);
      const come = (after ? count : 0) - (before ? count : 0);
      sessions.running += come;
      sessions.unknown -= come;
    },
    sessionChanged(after: Session | undefined, before: Session | undefined): void {
      if (before) addSession(before, -1);
      if (after) addSession(after, 1);
      if (after && before && after.worker === before.worker) return;
      placementChanged(before?.worker, 1);
      placementChanged(after?.worker, -1);
      const row = after ?? before;
      if (row) noteQueue(row);
    },
    /** The price of its offer, which counts where its pool said none. */
    priceChanged(worker: Worker, now: number | undefined, was: number | undefined): void {
      if (worker.pricePerHour !== undefined) return;
      addPrice(worker, was, -1);
      addPrice(worker, now, 1);
    },
  };
}
