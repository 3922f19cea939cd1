import { type Loop, startLoop } from '#core/loop.ts';
import type { Session } from '#core/session.ts';
import { isFrozen } from '#core/worker.ts';
import type { Delivery } from './delivery.ts';
import type { SessionsDeps } from './deps.ts';
import type { FinishAttempt } from './finish-attempt.ts';
import { hasMachine } from './owner.ts';

/** Requeues or ends sessions that certainly run nowhere any more; while their pool is frozen, they wait. */
export interface LostSessions {
  /** Its agent reconnected and does not list this attempt. */
  absent(session: Session): void;
  /** Its agent lists this attempt after all. */
  present(session: Session): void;
  stop(): Promise<void>;
}

const GONE = 'The machine of the session is gone.';
const ABSENT = 'The agent reconnected and no longer has the session.';

export interface LostSessionParts {
  readonly finishAttempt: FinishAttempt;
  readonly delivery: Delivery;
}

export function startLostSessions(deps: SessionsDeps, { finishAttempt, delivery }: LostSessionParts): LostSessions {
  const { store } = deps;
  const { view } = store;
  // The attempt that an agent did not list; a session whose worker has no row needs no entry.
  const absentAttempt = new Map<string, number>();
  // Ids of sessions that wait for a thaw.
  const frozen = new Set<string>();

  function whyLost(session: Session): string | undefined {
    if (session.worker === undefined) return undefined;
    // A disconnected agent keeps its sessions: they may still run there.
    if (!hasMachine(store, session.worker)) return GONE;
    return absentAttempt.get(session.id) === session.attempt ? ABSENT : undefined;
  }

  function reconcile(id: string): void {
    const session = view.sessions.get(id);
    const why = session && whyLost(session);
    if (session && why && isFrozen(store, session.pool)) {
      frozen.add(id);
      return;
    }
    absentAttempt.delete(id);
    frozen.delete(id);
    if (!session || !why) return;
    if (delivery.isNeverSent(session)) finishAttempt.requeue(session, why);
    else finishAttempt.lost(session, why);
  }

  const loop: Loop = startLoop({ ...deps, name: 'lost sessions', reconcile });

  function pokeAllOf(worker: string): void {
    for (const session of view.sessions.by('worker', worker)) loop.poke(session.id);
  }

  const subscriptions = [
    store.onChange('workers', (after, _before, id) => {
      if (!after) pokeAllOf(id);
    }),
    store.onChange('computerMachines', (after, _before, id) => {
      if (!after) pokeAllOf(id);
    }),
    store.onChange('freezes', (after) => {
      if (!after) for (const id of frozen) loop.poke(id);
    }),
  ];
  for (const session of view.sessions.all()) if (whyLost(session)) loop.poke(session.id);

  return {
    absent(session) {
      absentAttempt.set(session.id, session.attempt);
      loop.poke(session.id);
    },
    present: (session) => void absentAttempt.delete(session.id),
    async stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
      await loop.stop();
    },
  };
}
