import { Fault } from '#core/fault.ts';
import { type Actor, SELF } from '#core/journal.ts';
import type { Pool } from '#core/pool.ts';
import { type Change, put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { Kit } from './kit.ts';
import { removalOf } from './removal.ts';
import type { Survey } from './survey.ts';

/** No new sessions; it goes when its last one has ended, or at its pool's deadline. */
export async function drainWorker(kit: Kit, name: string, actor: Actor): Promise<Worker> {
  const { view } = kit.store;
  const worker = view.workers.get(name);
  if (!worker) throw new Fault('missing', `There is no worker ${name}.`);
  if (worker.removal || worker.drain) return worker;
  const pool = view.pools.get(worker.pool);
  const deadlineAt = kit.clock.now() + (pool?.spec.drainTimeoutMs ?? 0);
  const drained = draining(kit, worker, { why: `${actor.who} asked for it`, deadlineAt });
  await kit.store.commit([put('workers', drained), drainEvent(kit, drained, actor)]);
  kit.link.send(name, { do: 'drain', stop: false });
  return view.workers.get(name) ?? drained;
}

/** What commits a drain that waits for the last session, however long that takes; then its agent is told. */
export function drainOf(kit: Kit, worker: Worker, why: string): Change[] {
  const drained = draining(kit, worker, { why });
  return [put('workers', drained), drainEvent(kit, drained, SELF)];
}

function draining(kit: Kit, worker: Worker, terms: { why: string; deadlineAt?: number }): Worker {
  return { ...worker, drain: { at: kit.clock.now(), ...terms } };
}

function drainEvent(kit: Kit, worker: Worker, actor: Actor): Change {
  const message = `Draining: ${worker.drain?.why ?? ''}.`;
  return kit.journal.event(
    { kind: 'worker.draining', subject: `worker/${worker.id}`, pool: worker.pool, message },
    actor,
  );
}

/** A pool that is being removed, or is gone, takes no new sessions on any of its workers. */
export function drainPool(kit: Kit, id: string, pool: Pool | undefined): boolean {
  if (pool && !pool.removal) return false;
  const why = 'the pool is being removed';
  const deadlineAt = pool?.removal?.deadlineAt ?? kit.clock.now();
  const drained: Worker[] = [];
  for (const worker of kit.store.view.workers.by('pool', id)) {
    const isDrained = worker.drain && (worker.drain.deadlineAt ?? Number.POSITIVE_INFINITY) <= deadlineAt;
    if (!worker.removal && !isDrained) drained.push(draining(kit, worker, { why, deadlineAt }));
  }
  if (drained.length === 0) return false;
  kit.commit(
    drained.flatMap((worker) => [put('workers', worker), drainEvent(kit, worker, SELF)]),
    () => {
      for (const { id: name } of drained) kit.link.send(name, { do: 'drain', stop: false });
    },
  );
  return true;
}

/** Removes what has drained. No placement can come between: it reads the drain, and all of this is one turn. */
export function removeDrained(kit: Kit, { drained }: Survey): boolean {
  if (drained.length === 0) return false;
  kit.commit(drained.flatMap((worker) => removalOf(kit, worker, worker.drain?.why ?? 'drained')));
  return true;
}
