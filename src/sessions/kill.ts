import type { Actor } from '#core/journal.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import type { Deadlines } from './deadline.ts';
import type { Delivery } from './delivery.ts';
import { commitThen, type SessionsDeps } from './deps.ts';
import type { Finder } from './find.ts';
import type { FinishAttempt } from './finish-attempt.ts';

export interface KillParts {
  readonly finder: Finder;
  readonly finishAttempt: FinishAttempt;
  readonly delivery: Delivery;
  readonly deadlines: Deadlines;
}

/** Cancels a session that was sent to no agent. One that may run gets a kill command, again each time its agent reconnects. */
export function openKill(deps: SessionsDeps, { finder, finishAttempt, delivery, deadlines }: KillParts) {
  const { store, clock, journal } = deps;

  function cancel(session: Session, actor: Actor): Session {
    const event = `${actor.who} cancelled the session before it started.`;
    return finishAttempt.end(session, { end: { how: 'cancelled', message: event }, event, actor });
  }

  function askToEnd(session: Session, force: boolean, actor: Actor): Session {
    const before = session.kill;
    const isForced = force || before?.force === true;
    // A second SIGTERM does not prolong the grace.
    const at = before?.force === isForced ? before.at : clock.now();
    const row: Session = { ...session, kill: { at, by: actor.who, force: isForced } };
    const message = `${actor.who} asked to ${isForced ? 'kill the session at once' : 'end the session'}.`;
    const subject = `session/${session.id}`;
    const event = journal.event({ kind: 'session.kill-asked', subject, pool: session.pool, message }, actor);
    commitThen(deps, [put('sessions', row), event], () => delivery.kill(row));
    deadlines.watch(row);
    return row;
  }

  return async (id: string, force: boolean, actor: Actor): Promise<Session> => {
    const session = store.view.sessions.get(id);
    if (!session) return finder.get(id);
    const isUnsent = session.worker === undefined || delivery.isNeverSent(session);
    const after = isUnsent ? cancel(session, actor) : askToEnd(session, force, actor);
    await store.durable();
    return after;
  };
}
