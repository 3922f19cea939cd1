import type { Offer } from '#core/pool.ts';
import { sessionsOn } from '#core/pool-counts.ts';
import type { Worker } from '#core/worker.ts';
import { removalOf } from '#machines/removal.ts';
import type { WorkersContext } from './context.ts';

function affected({ store }: WorkersContext, goes: (offer: Offer) => boolean): Worker[] {
  const { view } = store;
  return [...view.workers.all()].filter((worker) => {
    const offer = view.offers.get(worker.offer ?? '');
    return offer !== undefined && goes(offer) && sessionsOn(store, worker.id) === 0;
  });
}

const LOOK_EVERY_MS = 50;

/** The cloud has accepted the delete. The row is dropped when listings no longer show the machine, perhaps after the next start. */
function isAgreed({ owned, store }: WorkersContext, name: string): boolean {
  return !store.view.workers.get(name) || owned.calls.deletions.get(name)?.agreedMs !== undefined;
}

/**
 * From now on nothing is launched or removed for size. Workers of these offers that have no session go;
 * resolves when their cloud has agreed. Those with sessions stay, and the next start finds them again.
 */
export async function standDown(context: WorkersContext, goes: (offer: Offer) => boolean): Promise<void> {
  const { base } = context.owned;
  context.standingDown.isOn = true;
  const going = affected(context, goes);
  const leaving = going.filter((worker) => !worker.removal);
  if (leaving.length > 0)
    base.commit(leaving.flatMap((worker) => removalOf(context.owned, worker, 'the server is stopping')));
  while (!base.stopping.aborted && !going.every(({ id }) => isAgreed(context, id))) {
    await context.clock.sleep(LOOK_EVERY_MS, base.stopping);
  }
}
