import { Fault } from '#core/fault.ts';
import { type Actor, SELF } from '#core/journal.ts';
import type { Pool } from '#core/pool.ts';
import { type Change, put } from '#core/store.ts';
import type { Drain, Worker } from '#core/worker.ts';
import { removalOf } from '#machines/removal.ts';
import type { WorkersContext } from './context.ts';
import { mustKeepOut } from './kept-out.ts';
import type { Survey } from './survey.ts';

const KEPT_OUT =
  'This worker is drained. Start its agent again to let it join, or release it: `muster worker release`.';

/** Drains a worker: no new sessions; it is removed when its last one has ended, or at its pool's deadline. */
export async function drainWorker(context: WorkersContext, name: string, actor: Actor): Promise<Worker> {
  const { view } = context.store;
  const worker = view.workers.get(name);
  if (!worker) throw new Fault('missing', `There is no worker ${name}.`);
  if (worker.removal || worker.drain) return worker;
  const pool = view.pools.get(worker.pool);
  const why = `${actor.who} asked for it`;
  const deadlineAt = context.clock.now() + (pool?.spec.drainTimeoutMs ?? 0);
  // Where nothing is deleted, nothing is gained by a deadline.
  const terms = mustKeepOut(context, worker) ? { why, isKept: true as const } : { why, deadlineAt };
  const drained = draining(context, worker, terms);
  await context.store.commit([put('workers', drained), drainEvent(context, drained, actor)]);
  context.link.send(name, { do: 'drain', stop: false });
  return view.workers.get(name) ?? drained;
}

/** Changes that drain a worker without a deadline; its agent gets the command afterwards. */
export function drainOf(context: WorkersContext, worker: Worker, why: string): Change[] {
  const drained = draining(context, worker, { why });
  return [put('workers', drained), drainEvent(context, drained, SELF)];
}

function draining(context: WorkersContext, worker: Worker, terms: Omit<Drain, 'at'>): Worker {
  return { ...worker, drain: { at: context.clock.now(), ...terms } };
}

function drainEvent(context: WorkersContext, worker: Worker, actor: Actor): Change {
  const message = `Draining: ${worker.drain?.why ?? ''}.`;
  return context.journal.event(
    { kind: 'worker.draining', subject: `worker/${worker.id}`, pool: worker.pool, message },
    actor,
  );
}

/** A worker whose cloud takes its machine away is drained as if its agent had heard of it, so that a replacement is launched. */
export function drainReclaimed(context: WorkersContext, { reclaimed }: Survey): boolean {
  if (reclaimed.length === 0) return false;
  const drained = reclaimed.map(({ worker, endsAt: deadlineAt }) =>
    draining(context, worker, { why: 'the cloud reclaims its machine', deadlineAt, isTaken: true }),
  );
  commitDrained(context, drained);
  return true;
}

function commitDrained(context: WorkersContext, drained: readonly Worker[]): void {
  context.owned.base.commit(
    drained.flatMap((worker) => [put('workers', worker), drainEvent(context, worker, SELF)]),
    () => {
      for (const { id: name } of drained) context.link.send(name, { do: 'drain', stop: false });
    },
  );
}

/** A pool that is being removed, or is gone, takes no new sessions on any of its workers. */
export function drainPool(context: WorkersContext, id: string, pool: Pool | undefined): boolean {
  if (pool && !pool.removal) return false;
  const why = 'the pool is being removed';
  const deadlineAt = pool?.removal?.deadlineAt ?? context.clock.now();
  const drained: Worker[] = [];
  for (const worker of context.store.view.workers.by('pool', id)) {
    const isDrained = worker.drain && (worker.drain.deadlineAt ?? Number.POSITIVE_INFINITY) <= deadlineAt;
    if (!worker.removal && !isDrained) drained.push(draining(context, worker, { why, deadlineAt }));
  }
  if (drained.length === 0) return false;
  commitDrained(context, drained);
  return true;
}

/** Ends the connections of agents that are kept out and have nothing left to do. */
export function sendAwayDrained({ link, store }: WorkersContext, { keptOut }: Survey): void {
  if (keptOut.length === 0) return;
  store.durable().then(
    () => {
      for (const { id } of keptOut) if (store.view.workers.get(id)?.drain?.isKept) link.dismiss(id, KEPT_OUT);
    },
    () => {},
  );
}

/** Removes what has drained. No placement can come between: it reads the drain, and all of this is one turn. */
export function removeDrained(context: WorkersContext, { drained }: Survey): boolean {
  if (drained.length === 0) return false;
  context.owned.base.commit(
    drained.flatMap((worker) => removalOf(context.owned, worker, worker.drain?.why ?? 'drained')),
  );
  return true;
}
