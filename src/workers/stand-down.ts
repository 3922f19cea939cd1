import type { Offer } from '#core/pool.ts';
import type { Worker } from '#core/worker.ts';
import type { Kit } from './kit.ts';
import { removalOf } from './removal.ts';

function affected({ store: { view } }: Kit, goes: (offer: Offer) => boolean): Worker[] {
  return [...view.workers.all()].filter((worker) => {
    const offer = view.offers.get(worker.offer ?? '');
    return offer !== undefined && goes(offer) && view.sessions.count('worker', worker.id) === 0;
  });
}

/**
 * From now on nothing is launched or removed for size. Workers of these offers that have no session go;
 * resolves when they are gone. Those with sessions stay, and the next start finds them again.
 */
export function standDown(kit: Kit, goes: (offer: Offer) => boolean): Promise<void> {
  kit.standingDown.isOn = true;
  const going = affected(kit, goes);
  const leaving = going.filter((worker) => !worker.removal);
  if (leaving.length > 0) kit.commit(leaving.flatMap((worker) => removalOf(kit, worker, 'the server is stopping')));
  const left = new Set(going.map(({ id }) => id));
  if (left.size === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const stopListening = kit.store.onChange('workers', (after, _before, id) => {
      if (after) return;
      left.delete(id);
      if (left.size > 0) return;
      stopListening();
      resolve();
    });
  });
}
