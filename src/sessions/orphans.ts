import { type Loop, startLoop } from '#core/loop.ts';
import type { Session } from '#core/session.ts';
import type { SessionsDeps } from './deps.ts';
import { isFrozen } from './presence.ts';
import type { Settle } from './settle.ts';
import type { Tell } from './tell.ts';

/** Settles sessions of which it is certain that no copy lives; while their pool is frozen, they wait. */
export interface Orphans {
  /** Its agent is back and has no trace of this attempt. */
  absent(session: Session): void;
  /** It has one after all. */
  present(session: Session): void;
  stop(): Promise<void>;
}

const GONE = 'Its machine is gone.';
const ABSENT = 'Its agent came back without any trace of it.';

export interface OrphanParts {
  readonly settle: Settle;
  readonly tell: Tell;
}

export function startOrphans(deps: SessionsDeps, { settle, tell }: OrphanParts): Orphans {
  const { store } = deps;
  const { view } = store;
  // The attempt that an agent denied; a session whose worker has no row needs no entry.
  const deniedAttempt = new Map<string, number>();
  // Waiting for a thaw, by pool.
  const frozen = new Set<string>();

  function whyLost(session: Session): string | undefined {
    if (session.worker === undefined) return undefined;
    // An agent that is only away keeps its sessions: they may still run there.
    if (!view.workers.get(session.worker)) return GONE;
    return deniedAttempt.get(session.id) === session.attempt ? ABSENT : undefined;
  }

  function reconcile(id: string): void {
    const session = view.sessions.get(id);
    const why = session && whyLost(session);
    if (session && why && isFrozen(store, session.pool)) {
      frozen.add(id);
      return;
    }
    deniedAttempt.delete(id);
    frozen.delete(id);
    if (!session || !why) return;
    if (tell.isNeverTold(session)) settle.unplace(session, why);
    else settle.lose(session, why);
  }

  const loop: Loop = startLoop({ ...deps, name: 'orphans', reconcile });

  function pokeAllOf(worker: string): void {
    for (const session of view.sessions.by('worker', worker)) loop.poke(session.id);
  }

  const subscriptions = [
    store.onChange('workers', (after, _before, id) => {
      if (!after) pokeAllOf(id);
    }),
    store.onChange('freezes', (after) => {
      if (!after) for (const id of frozen) loop.poke(id);
    }),
  ];
  for (const session of view.sessions.all()) if (whyLost(session)) loop.poke(session.id);

  return {
    absent(session) {
      deniedAttempt.set(session.id, session.attempt);
      loop.poke(session.id);
    },
    present: (session) => void deniedAttempt.delete(session.id),
    async stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
      await loop.stop();
    },
  };
}
