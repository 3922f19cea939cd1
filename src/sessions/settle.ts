import type { Actor } from '#core/journal.ts';
import type { OutputMark, Session, SessionEnd } from '#core/session.ts';
import { append, type Change, drop, put } from '#core/store.ts';
import { commitThen, type SessionsDeps } from './deps.ts';

/** How often another agent is asked after one would not start a session. */
const MOST_REFUSALS = 3;

export interface SettleHooks {
  /** What is kept of its output, exactly. */
  outputMark(session: Session): OutputMark | undefined;
  /** This attempt is over: forget all that memory holds of it. */
  attemptOver(session: Session): void;
  /** It has its final state, in memory. */
  ended(session: Session): void;
  /** The demand or the room of this pool has changed. */
  changed(pool: string): void;
}

export interface Finish {
  readonly end: Omit<SessionEnd, 'at'>;
  /** Why, where that deserves an event. */
  readonly event?: string | undefined;
  readonly actor?: Actor | undefined;
  /** What may be said once it is durable. */
  then?(): void;
}

/** The only ways in which an attempt ends. */
export interface Settle {
  /** Its one final state: out of the live sessions and into the ended ones, in one commit. */
  finish(session: Session, how: Finish): Session;
  /** Back into the line: no agent has heard of this attempt, or has any trace of it. */
  unplace(session: Session, why: string): void;
  /** It is certain that no copy lives: starts again while it has retries left, or has ended. */
  lose(session: Session, why: string): void;
  /** An agent would not start it. */
  refuse(session: Session, why: string): void;
}

export function openSettle(deps: SessionsDeps, hooks: SettleHooks): Settle {
  const { store, clock, journal } = deps;

  function tale(session: Session, kind: string, message: string, actor?: Actor): Change {
    const fields = { attempt: session.attempt, worker: session.worker };
    return journal.event({ kind, subject: `session/${session.id}`, pool: session.pool, message, fields }, actor);
  }

  function finish(session: Session, { end, event, actor, then }: Finish): Session {
    const output = hooks.outputMark(session);
    const ended: Session = { ...session, ...(output && { output }), end: { at: clock.now(), ...end } };
    const changes = [drop('sessions', session.id), append('ended', ended)];
    if (event !== undefined) changes.push(tale(session, `session.${end.how}`, event, actor));
    hooks.attemptOver(session);
    hooks.ended(ended);
    commitThen(deps, changes, then ?? (() => {}));
    hooks.changed(session.pool);
    return ended;
  }

  function requeue(session: Session, change: Partial<Session>, why: string): void {
    const mark = hooks.outputMark(session);
    const row: Session = {
      ...session,
      ...change,
      ...(mark && { output: { ...mark, seq: 0 } }),
      worker: undefined,
      placedAt: undefined,
      startedAt: undefined,
    };
    hooks.attemptOver(session);
    commitThen(deps, [put('sessions', row), tale(session, 'session.requeued', why)], () => {});
    hooks.changed(session.pool);
  }

  function canWait(session: Session): boolean {
    const pool = store.view.pools.get(session.pool);
    return pool !== undefined && !pool.removal;
  }

  return {
    finish,
    unplace: (session, why) => requeue(session, {}, why),
    lose(session, why) {
      const losses = session.losses ?? 0;
      if (session.kill) {
        finish(session, { end: { how: session.kill.isTimeout ? 'timeout' : 'killed', message: why } });
      } else if (losses < session.spec.retries && canWait(session)) {
        requeue(session, { losses: losses + 1 }, why);
      } else {
        finish(session, { end: { how: 'lost', message: why }, event: why });
      }
    },
    refuse(session, why) {
      const refusedBy = [...(session.refusedBy ?? []), session.worker ?? ''];
      const asked = { ...session, refusedBy };
      if (session.kill) {
        finish(asked, { end: { how: 'cancelled', message: why } });
      } else if (refusedBy.length > MOST_REFUSALS) {
        finish(asked, { end: { how: 'refused', message: why }, event: why });
      } else {
        requeue(session, { refusedBy }, why);
      }
    },
  };
}
