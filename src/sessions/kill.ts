import type { Actor } from '#core/journal.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import type { Deadlines } from './deadline.ts';
import { commitThen, type SessionsDeps } from './deps.ts';
import type { Finder } from './find.ts';
import type { Settle } from './settle.ts';
import type { Tell } from './tell.ts';

export interface KillParts {
  readonly finder: Finder;
  readonly settle: Settle;
  readonly tell: Tell;
  readonly deadlines: Deadlines;
}

/** What no agent has heard of is cancelled at once; what may run is told to end, and told again when its agent returns. */
export function openKill(deps: SessionsDeps, { finder, settle, tell, deadlines }: KillParts) {
  const { store, clock, journal } = deps;

  function cancel(session: Session, actor: Actor): Session {
    const event = `Cancelled by ${actor.who} before it started.`;
    return settle.finish(session, { end: { how: 'cancelled', message: event }, event, actor });
  }

  function tellToEnd(session: Session, force: boolean, actor: Actor): Session {
    const before = session.kill;
    const isForced = force || before?.force === true;
    // Asking politely once more does not prolong the grace.
    const at = before?.force === isForced ? before.at : clock.now();
    const row: Session = { ...session, kill: { at, by: actor.who, force: isForced } };
    const message = `${actor.who} told it to end${isForced ? ' at once' : ''}.`;
    const subject = `session/${session.id}`;
    const event = journal.event({ kind: 'session.kill-asked', subject, pool: session.pool, message }, actor);
    commitThen(deps, [put('sessions', row), event], () => tell.kill(row));
    deadlines.watch(row);
    return row;
  }

  return async (id: string, force: boolean, actor: Actor): Promise<Session> => {
    const session = store.view.sessions.get(id);
    if (!session) return finder.get(id);
    const isUnheard = session.worker === undefined || tell.isNeverTold(session);
    const after = isUnheard ? cancel(session, actor) : tellToEnd(session, force, actor);
    await store.durable();
    return after;
  };
}
