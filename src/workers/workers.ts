import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { type Again, startLoop } from '#core/loop.ts';
import type { Offer, Pool } from '#core/pool.ts';
import { poolInLog } from '#core/pool-counts.ts';
import type { ScalingNow } from '#core/schedule.ts';
import type { PoolNeed, PoolTrouble } from '#core/source.ts';
import { drop, type Store } from '#core/store.ts';
import { FLEET, type Freeze, type Worker } from '#core/worker.ts';
import type { Plan } from '../autoscaler/plan.ts';
import type { WorkersContext, WorkersDeps } from './context.ts';
import { drainWorker } from './drain.ts';
import { type Foreseen, foresee, planFor } from './facts.ts';
import { freeze, thaw } from './freeze.ts';
import { openJoining } from './join.ts';
import { releaseWorker } from './kept-out.ts';
import { isSameTrouble, launchFaultOf, launchTroubleOf } from './launch-failures.ts';
import { limitsNow } from './limits.ts';
import { poolsAsAsker } from './machine-owner.ts';
import { bootWaitOf, forgetRefusal, refusalsChangeAtMs, tellMachineTrouble } from './machine-troubles.ts';
import { unseenWorkers, type WorkerObservation } from './observation.ts';
import { type PoolMemory, rememberPools } from './pool-memory.ts';
import { followPools } from './pool-offers.ts';
import { observeReady } from './ready-time.ts';
import { reconcilePool } from './reconcile.ts';
import { observeSlots } from './reported-slots.ts';
import { followSameShape } from './same-shape.ts';
import { standDown } from './stand-down.ts';
import { DEFAULT_TIMES, gapAfter } from './times.ts';

export type { WorkersDeps } from './context.ts';
export { DEFAULT_TIMES, type Times } from './times.ts';

/** The workers of every pool: launching, joining, draining and losing them. */
export interface Workers {
  /** Drains a worker: no new sessions; it is removed when its last one has ended. */
  drain(name: string, actor: Actor): Promise<Worker>;
  /** Takes back the drain of a worker whose agent joined by itself and is kept out. */
  release(name: string, actor: Actor): Promise<Worker>;
  /** Stops all action of one pool (by its id) or of the fleet until thawed. */
  freeze(scope: string, why: string, actor: Actor): Promise<Freeze>;
  thaw(scope: string, actor: Actor): Promise<void>;
  /** What the next pass of that pool would do, and why. Changes nothing. */
  plan(pool: string): Plan;
  /** What it would do if the pool were so; a pool that does not exist yet has an id that no pool has. Changes nothing. */
  foresee(pool: Pool): Foreseen;
  /** Looks at that pool again soon. */
  poke(pool: string): void;
  /** Why that pool could not get its last machine, while that is so. */
  launchFault(pool: string): { readonly message: string; readonly at: number } | undefined;
  /** Why that pool gets no machines or cannot list them; undefined if all is well. */
  trouble(pool: string): PoolTrouble | undefined;
  /** The pools with such trouble as of their last passes, and since when. */
  troubled(): ReadonlyMap<string, number>;
  /** The limits that hold for a pool now, and what sets them. */
  limits(pool: Pool): ScalingNow;
  /** What a worker waits for whose agent has not joined. */
  bootWait(worker: Worker): string | undefined;
  /** What that pool must have; undefined until a pass has looked at its definition and its machines. */
  need(pool: string): PoolNeed | undefined;
  /** A budget of these pools has room again, or its month is spent. */
  budgetTurned(pools: Iterable<string>, turn: 'room' | 'spent'): void;
  /** Stops deciding, and removes idle workers of these offers; resolves when their cloud has accepted the deletes. */
  standDown(goes: (offer: Offer) => boolean): Promise<void>;
  stop(): Promise<void>;
}

export const startWorkers = (deps: WorkersDeps): Workers => openWorkers(deps).workers;

/** The same with what workers remember, for tests that look at it. */
export function openWorkers(deps: WorkersDeps): { readonly workers: Workers; readonly context: WorkersContext } {
  const { store, clock, random, log } = deps;
  const loop = startLoop({ name: 'workers', clock, random, log, reconcile, logged: poolInLog(store) });
  const context = openContext(deps, loop.poke);

  function reconcile(id: string): Again | undefined {
    const before = { ...context.pools.read(id) };
    const again = reconcilePool(context, deps.boot, id);
    tellMachineTrouble(context, id);
    const trouble = launchTroubleOf(context, id);
    const isSame = isSameTrouble(trouble, before.trouble);
    if (!isSame) context.pools.observeTrouble(id, trouble);
    if (!isSame || !isSameNeed(context.pools.read(id), before)) deps.activityChanged?.(id);
    return soonest(again, refusalsChangeAtMs(context, id) - clock.monotonic());
  }

  const stopListening = [...listen(context, loop), followPools(context, loop.poke), followSameShape(context)];
  for (const pool of store.view.pools.all()) loop.poke(pool.id);
  for (const { pool } of store.view.workers.all()) if (!store.view.pools.get(pool)) loop.poke(pool);

  const workers: Workers = {
    drain: (name, actor) => drainWorker(context, name, actor),
    release: (name, actor) => releaseWorker(context, name, actor),
    freeze: (scope, why, actor) => freeze(context, scope, { why, actor }),
    thaw: (scope, actor) => thaw(context, scope, actor),
    plan(id) {
      const pool = store.view.pools.get(id);
      if (!pool) throw new Fault('missing', `There is no pool ${id}.`);
      return planFor(context, pool);
    },
    foresee: (pool) => foresee(context, pool),
    poke: loop.poke,
    launchFault: (pool) => launchFaultOf(context, pool),
    trouble: (pool) => launchTroubleOf(context, pool),
    troubled: () => context.pools.troubled,
    limits: (pool) => limitsNow(context, pool, context.pools.read(pool.id)),
    bootWait: (worker) => bootWaitOf(context, worker),
    need(pool) {
      const { need, revision } = context.pools.read(pool);
      return revision === store.view.pools.get(pool)?.revision ? need : undefined;
    },
    budgetTurned(pools, turn) {
      for (const id of pools) if (turn === 'spent' || context.pools.read(id).isHeldByBudget) loop.poke(id);
    },
    standDown: (goes) => standDown(context, goes),
    async stop() {
      for (const stop of stopListening) stop();
      await loop.stop();
    },
  };
  return { workers, context };
}

/** Until a pass has looked at a new definition, its need counts as unknown: the same figures are news then. */
const isSameNeed = (one: Readonly<PoolMemory>, other: Readonly<PoolMemory>): boolean =>
  one.revision === other.revision && one.need?.wanted === other.need?.wanted && one.need?.lost === other.need?.lost;

function soonest(again: Again | undefined, afterMs: number): Again | undefined {
  if (afterMs === Number.POSITIVE_INFINITY) return again;
  return { afterMs: Math.min(again?.afterMs ?? afterMs, Math.ceil(afterMs)) };
}

function openContext(deps: WorkersDeps, poke: (pool: string) => void): WorkersContext {
  const { store, clock, log, journal, clouds, link, machines } = deps;
  const times = { ...DEFAULT_TIMES, ...deps.times };
  const graceEndMs = clock.monotonic() + times.reconnectGraceMs;
  const asker = poolsAsAsker({ ...deps, poke, join: (joining) => join(joining), context: () => context });
  const owned = machines.register<Worker, WorkerObservation>(asker, unseenWorkers(graceEndMs));
  let changes = 0;
  store.onChange('workers', () => {
    changes += 1;
  });
  const context: WorkersContext = {
    ...{ store, clock, log, journal, clouds, link, times, owned, budgets: deps.budgets },
    pools: rememberPools(store, clock),
    standingDown: { isOn: false },
    acting: { pool: undefined },
    workersChanged: () => changes,
  };
  const join = openJoining(context, { admit: deps.admit, poke });
  return context;
}

/** Events only wake a pool; each pass reads the state again. */
function listen(
  context: WorkersContext,
  { poke, forget }: { poke(pool: string): void; forget(pool: string): void },
): (() => void)[] {
  const { store, acting } = context;
  const pokePool = (after: { pool: string } | undefined, before: { pool: string } | undefined): void => {
    const pool = after?.pool ?? before?.pool;
    if (pool !== undefined) poke(pool);
  };
  return [
    store.onChange('pools', (after, _before, id) => {
      if (after) return poke(id);
      forget(id);
      forgetPool(context, id);
      if (store.view.workers.count('pool', id) > 0) poke(id);
    }),
    store.onChange('workers', (after, before, id) => {
      if (after) observeFirstJoin(context, after, before);
      else forgetWorker(context, id, before);
      if ((after ?? before)?.pool === acting.pool) return;
      if (!isJoining(after, before) && !isOnlyCreated(after, before)) pokePool(after, before);
    }),
    store.onChange('agents', (after, before, id) => {
      const agent = after ?? before;
      if (agent?.use !== 'worker') return;
      if (after) observeSlots(context, after);
      // The sessions that wait are placed there at once: one pass answers both.
      const hasQueue = after !== undefined && !before && store.view.sessions.count('queue', agent.owner) > 0;
      if (hasQueue) pokeAfter(context, agent.owner, { waitMs: context.times.passGapMs, poke });
      // Of a worker that is being removed nothing but the listing of its cloud is awaited.
      else if (after || !store.view.workers.get(id)?.removal) poke(agent.owner);
    }),
    store.onChange('chosenIdle', (_after, _before, id) => poke(id)),
    store.onChange('freezes', (_after, _before, id) => pokeScope(store, id, poke)),
    store.onChange('sessions', (after, before) => {
      if (after && before && after.worker === before.worker && after.unmatched === before.unmatched) return;
      const pool = after?.pool ?? before?.pool;
      if (pool !== undefined) pokeInTime(context, pool, poke);
    }),
  ];
}

const isFirstJoin = (after: Worker, before: Worker | undefined): boolean =>
  before !== undefined && before.joinedAt === undefined && after.joinedAt !== undefined;

/** The row of its agent follows as soon as this is durable, and wakes the pool. */
const isJoining = (after: Worker | undefined, before: Worker | undefined): boolean =>
  after !== undefined && isFirstJoin(after, before) && !after.drain;

/** The cloud has made the machine that was asked for: no plan tells it from one on its way, and the next listing shows it. */
const isOnlyCreated = (after: Worker | undefined, before: Worker | undefined): boolean =>
  after?.createdAt !== undefined &&
  before !== undefined &&
  before.createdAt === undefined &&
  after.machine === before.machine &&
  after.joinedAt === before.joinedAt &&
  after.drain === before.drain &&
  after.removal === before.removal;

function pokeScope({ view }: Store, scope: string, poke: (pool: string) => void): void {
  if (scope !== FLEET) poke(scope);
  else for (const pool of view.pools.all()) poke(pool.id);
}

function forgetWorker(context: WorkersContext, id: string, before: Worker | undefined): void {
  context.owned.forget(id, before);
  if (!before) return;
  context.pools.forgetLost(before);
  forgetRefusal(context, before);
}

function observeFirstJoin(context: WorkersContext, after: Worker, before: Worker | undefined): void {
  if (isFirstJoin(after, before)) observeReady(context, after);
}

function forgetPool({ store, owned }: WorkersContext, id: string): void {
  owned.unknown.forget(id);
  owned.base.ownerGone(id);
  owned.waiting.delete(id);
  if (store.view.freezes.get(id)) owned.base.commit([drop('freezes', id)]);
}

/** Sessions may come and go by the thousand: a pool answers the first at once, and the others together. */
function pokeInTime({ pools, clock, times }: WorkersContext, pool: string, poke: (pool: string) => void): void {
  const memory = pools.of(pool);
  if (memory.isPassDue) return;
  const waitMs = memory.passedMs + gapAfter(memory.passTookMs, times) - clock.monotonic();
  if (waitMs <= 0) return poke(pool);
  pokeAfter({ pools, clock }, pool, { waitMs, poke });
}

function pokeAfter(
  { pools, clock }: Pick<WorkersContext, 'pools' | 'clock'>,
  pool: string,
  { waitMs, poke }: { readonly waitMs: number; poke(pool: string): void },
): void {
  const memory = pools.of(pool);
  if (memory.isPassDue) return;
  memory.isPassDue = true;
  clock.alarm(waitMs, () => {
    memory.isPassDue = false;
    poke(pool);
  });
}
