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

const LOOK_EVERY_MS = 50;

/** The cloud has agreed to delete it; the row goes when listings show it no more, and that may be the next start's. */
function isAgreed(kit: Kit, name: string): boolean {
  const worker = kit.store.view.workers.get(name);
  return worker === undefined || kit.sightOf(worker).deletion?.agreedMs !== undefined;
}

/**
 * From now on nothing is launched or removed for size. Workers of these offers that have no session go;
 * resolves when their cloud has agreed. Those with sessions stay, and the next start finds them again.
 */
export async function standDown(kit: Kit, goes: (offer: Offer) => boolean): Promise<void> {
  kit.standingDown.isOn = true;
  const going = affected(kit, goes);
  const leaving = going.filter((worker) => !worker.removal);
  if (leaving.length > 0) kit.commit(leaving.flatMap((worker) => removalOf(kit, worker, 'the server is stopping')));
  while (!kit.stopping.aborted && !going.every(({ id }) => isAgreed(kit, id))) {
    await kit.clock.sleep(LOOK_EVERY_MS, kit.stopping);
  }
}
