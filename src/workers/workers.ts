import type { Hello, JoinProof } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { startLoop } from '#core/loop.ts';
import type { Offer, Pool } from '#core/pool.ts';
import { drop, type Store } from '#core/store.ts';
import { type Agent, FLEET, type Freeze, type Worker } from '#core/worker.ts';
import type { Plan } from '../autoscaler/plan.ts';
import { launchFaultOf, troubleOf } from './boots.ts';
import { drainWorker } from './drain.ts';
import { type Foreseen, foresee } from './foresight.ts';
import { freeze, thaw } from './freeze.ts';
import { openDoor } from './join.ts';
import { type Kit, openKit, type WorkersDeps } from './kit.ts';
import { leave } from './loss.ts';
import { followOffers } from './offers.ts';
import { passOver, planFor } from './reconcile.ts';
import { standDown } from './stand-down.ts';
import { startSweep } from './sweep.ts';

export type { WorkersDeps } from './kit.ts';
export { DEFAULT_TIMES, type Times } from './times.ts';

/** Keeps the workers of every pool: launch, join, drain, loss, sweep. */
export interface Workers {
  /** Lets an agent in, or throws a `Fault`; resolves when its joining is durable. */
  join(hello: Hello, proof: JoinProof): Promise<Agent>;
  /** The stream of that connection ended; an older one than the agent's newest changes nothing. */
  leave(name: string, epoch: number): void;
  /** No new sessions; it goes when its last one has ended. */
  drain(name: string, actor: Actor): Promise<Worker>;
  /** Stops all action of one pool (by its id) or of the fleet until thawed. */
  freeze(scope: string, why: string, actor: Actor): Promise<Freeze>;
  thaw(scope: string, actor: Actor): Promise<void>;
  /** What the next pass of that pool would do, and why. */
  plan(pool: string): Plan;
  /** What it would do if the pool were so; a pool that does not exist yet has an id of nobody. Changes nothing. */
  foresee(pool: Pool): Foreseen;
  /** Looks at that pool again soon. */
  poke(pool: string): void;
  /** Why that pool could not get its last machine, while that is so. */
  launchFault(pool: string): { readonly message: string; readonly at: number } | undefined;
  /** Cause and remedy, in one line, of why that pool gets no machines or cannot see those it has; nothing where all is well. */
  trouble(pool: string): string | undefined;
  /** Decides nothing more, and takes the idle workers of these offers along; resolves when their cloud has agreed. */
  standDown(goes: (offer: Offer) => boolean): Promise<void>;
  stop(): Promise<void>;
}

export function startWorkers(deps: WorkersDeps): Workers {
  const { store, clock, random, log } = deps;
  const stopping = new AbortController();
  const loop = startLoop({ name: 'workers', clock, random, log, reconcile: (id) => passOver(kit, id) });
  const kit: Kit = openKit(deps, stopping.signal, loop.poke);
  const stopListening = listen(kit, loop.forget);
  const offers = followOffers(kit);
  const sweep = startSweep(kit);
  deps.clouds.onForm((offer) => {
    for (const { id, spec } of store.view.pools.all()) if (spec.offers.some((one) => one.id === offer)) loop.poke(id);
  });
  for (const pool of store.view.pools.all()) loop.poke(pool.id);
  for (const { pool } of store.view.workers.all()) if (!store.view.pools.get(pool)) loop.poke(pool);

  return {
    join: openDoor(kit),
    leave: (name, epoch) => leave(kit, name, epoch),
    drain: (name, actor) => drainWorker(kit, name, actor),
    freeze: (scope, why, actor) => freeze(kit, scope, { why, actor }),
    thaw: (scope, actor) => thaw(kit, scope, actor),
    plan(id) {
      const pool = store.view.pools.get(id);
      if (!pool) throw new Fault('missing', `There is no pool ${id}.`);
      return planFor(kit, pool);
    },
    foresee: (pool) => foresee(kit, pool),
    poke: loop.poke,
    launchFault: (pool) => launchFaultOf(kit, pool),
    trouble: (pool) => troubleOf(kit, pool),
    standDown: (goes) => standDown(kit, goes),
    async stop() {
      stopping.abort();
      for (const stop of stopListening) stop();
      offers.stop();
      await Promise.all([loop.stop(), sweep.stop(), kit.rest()]);
    },
  };
}

/** Events only wake a pool; what to do it reads afresh. */
function listen(kit: Kit, forget: (pool: string) => void): (() => void)[] {
  const { store } = kit;
  const pokeBoth = (after: { pool: string } | undefined, before: { pool: string } | undefined): void => {
    const pool = after?.pool ?? before?.pool;
    if (pool !== undefined) kit.poke(pool);
  };
  return [
    store.onChange('pools', (after, _before, id) => {
      if (after) kit.poke(id);
      else dropPool(kit, id, forget);
    }),
    store.onChange('workers', (after, before, id) => {
      if (!after) kit.vanished.delete(id);
      pokeBoth(after, before);
    }),
    store.onChange('agents', pokeBoth),
    store.onChange('freezes', (_after, _before, id) => pokeScope(store, id, kit.poke)),
    store.onChange('sessions', (after, before) => {
      if (after && before && after.worker === before.worker && after.unmatched === before.unmatched) return;
      const pool = after?.pool ?? before?.pool;
      if (pool !== undefined) pokeInTime(kit, pool);
    }),
  ];
}

function pokeScope({ view }: Store, scope: string, poke: (pool: string) => void): void {
  if (scope !== FLEET) poke(scope);
  else for (const pool of view.pools.all()) poke(pool.id);
}

function dropPool(kit: Kit, id: string, forget: (pool: string) => void): void {
  forget(id);
  if (kit.store.view.freezes.get(id)) kit.commit([drop('freezes', id)]);
  if (kit.store.view.workers.count('pool', id) > 0) kit.poke(id);
}

/** Sessions may come and go by the thousand: a pool answers the first at once, and the rest together. */
function pokeInTime(kit: Kit, pool: string): void {
  const memory = kit.memoryOf(pool);
  const waitMs = memory.passedMs + kit.times.passGapMs - kit.clock.monotonic();
  if (waitMs <= 0) return kit.poke(pool);
  if (memory.isPassDue) return;
  memory.isPassDue = true;
  kit.clock.alarm(waitMs, () => {
    memory.isPassDue = false;
    kit.poke(pool);
  });
}
