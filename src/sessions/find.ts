import { Fault } from '#core/fault.ts';
import type { Session } from '#core/session.ts';
import type { Store } from '#core/store.ts';

/** Finds live and ended sessions, and waits for ends. All that it answers is durable. */
export interface Finder {
  find(id: string): Promise<Session | undefined>;
  /** Throws a `Fault` if there is no such session. */
  get(id: string): Promise<Session>;
  ended(id: string, signal: AbortSignal): Promise<Session>;
  /** Keeps a session that has ended in memory, since its row in the history may not be durable yet. */
  noteEnded(session: Session): void;
  stop(): void;
}

type Waiter = (session: Session | undefined) => void;

export const missing = (id: string): Fault =>
  new Fault('missing', `There is no session ${id}.`, {
    at: 'path.session',
    remedy: 'List sessions with `muster session ls`.',
  });

export const stopping = (): Fault =>
  new Fault('unavailable', 'The server is stopping.', { remedy: 'Try again in a few seconds.' });

export function openFinder(store: Store): Finder {
  const recent = new Map<string, Session>();
  const waiters = new Map<string, Set<Waiter>>();
  // In the history since the last batch: callers who waited for them ask at once, so they stay in memory for one batch.
  let durable: string[] = [];
  const unsubscribe = store.onDurable((changes) => {
    for (const id of durable) recent.delete(id);
    durable = [];
    for (const change of changes) {
      if (!('append' in change) || change.append !== 'ended') continue;
      durable.push(change.row.id);
      wakeWaiters(change.row);
    }
  });

  function wakeWaiters(session: Session): void {
    for (const wake of waiters.get(session.id) ?? []) wake(session);
  }

  async function find(id: string): Promise<Session | undefined> {
    const found = store.view.sessions.get(id) ?? recent.get(id);
    await store.durable();
    if (found) return found;
    const [ended] = await store.history.ended({ id }, { limit: 1, order: 'newest first' });
    return ended;
  }

  async function get(id: string): Promise<Session> {
    const found = await find(id);
    if (!found) throw missing(id);
    return found;
  }

  function waitFor(id: string, signal: AbortSignal) {
    const all = waiters.get(id) ?? new Set();
    waiters.set(id, all);
    let wake: Waiter = () => {};
    const settled = new Promise<Session | undefined>((resolve) => {
      wake = resolve;
    });
    const giveUp = (): void => wake(undefined);
    all.add(wake);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    const close = (): void => {
      signal.removeEventListener('abort', giveUp);
      if (all.delete(wake) && all.size === 0) waiters.delete(id);
    };
    return { settled, close };
  }

  return {
    find,
    get,
    async ended(id, signal) {
      // Subscribe before the lookup, or an end that becomes durable in between would be missed.
      const wait = waitFor(id, signal);
      try {
        const found = await get(id);
        if (found.end) return found;
        const ended = await wait.settled;
        if (ended) return ended;
        throw signal.aborted ? new Fault('unavailable', 'The caller stopped waiting for the session.') : stopping();
      } finally {
        wait.close();
      }
    },
    noteEnded: (session) => void recent.set(session.id, session),
    stop() {
      unsubscribe();
      for (const all of waiters.values()) for (const wake of all) wake(undefined);
    },
  };
}
