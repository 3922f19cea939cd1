import type { AgentReport } from '#core/agent-link.ts';
import type { Actor } from '#core/journal.ts';
import type { OutputPosition, Session, SessionEnd } from '#core/session.ts';
import { append, type Change, drop, put } from '#core/store.ts';
import { commitThen, type SessionsDeps } from './deps.ts';
import { keptOwner } from './owner.ts';

/** A session ends as refused when more agents than this have refused it. */
const MOST_REFUSALS = 3;

type ForGood = Extract<AgentReport, { is: 'refused' }>['forGood'];

const isoTime = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

export interface AttemptHooks {
  /** How far its output was kept. */
  outputPosition(session: Session): OutputPosition | undefined;
  /** Forgets all that memory holds of this attempt. */
  attemptOver(session: Session): void;
  /** The session has its final state, in memory. */
  ended(session: Session): void;
  /** The demand or the free slots of this pool have changed. */
  changed(pool: string): void;
}

export interface Finish {
  readonly end: Omit<SessionEnd, 'at'>;
  /** Text of the event, if there shall be one. */
  readonly event?: string | undefined;
  readonly actor?: Actor | undefined;
  /** Runs when the end is durable. */
  then?(): void;
}

/** The only ways in which an attempt finishes. */
export interface FinishAttempt {
  /** Ends the session: moves it from the live ones to the history, in one commit. */
  end(session: Session, how: Finish): Session;
  /** Puts the session back into the queue: no agent has received this attempt. */
  requeue(session: Session, why: string): void;
  /** The attempt certainly runs nowhere: requeues the session while it has retries left, else ends it. */
  lost(session: Session, why: string): void;
  /** An agent refused to start it: requeues the session for another agent, or ends it. */
  refused(session: Session, why: string, forGood?: ForGood): void;
}

export function openFinishAttempt(deps: SessionsDeps, hooks: AttemptHooks): FinishAttempt {
  const { store, clock, journal } = deps;

  function eventOf(session: Session, kind: string, message: string, actor?: Actor): Change {
    const { attempt, worker, placedAt, startedAt } = session;
    // The row forgets when an attempt was placed and started as soon as the next one is queued.
    const fields = { attempt, worker, placedAt: isoTime(placedAt), startedAt: isoTime(startedAt) };
    return journal.event({ kind, subject: `session/${session.id}`, pool: session.pool, message, fields }, actor);
  }

  function endSession(session: Session, { end, event, actor, then }: Finish): Session {
    const output = hooks.outputPosition(session);
    const ended: Session = { ...session, ...(output && { output }), end: { at: clock.now(), ...end } };
    const changes = [drop('sessions', session.id), append('ended', ended)];
    if (event !== undefined) changes.push(eventOf(session, `session.${end.how}`, event, actor));
    hooks.attemptOver(session);
    hooks.ended(ended);
    commitThen(deps, changes, then);
    hooks.changed(session.pool);
    return ended;
  }

  function backToQueue(session: Session, change: Partial<Session>, why: string): void {
    const position = hooks.outputPosition(session);
    const row: Session = {
      ...session,
      ...change,
      ...(position && { output: { ...position, seq: 0 } }),
      worker: undefined,
      placedAt: undefined,
      startedAt: undefined,
    };
    hooks.attemptOver(session);
    commitThen(deps, [put('sessions', row), eventOf(session, 'session.requeued', why)]);
    hooks.changed(session.pool);
  }

  function canQueue(session: Session): boolean {
    return keptOwner(store, session.pool) !== undefined;
  }

  /** What an agent cannot do another may: it is asked while one is connected that has not refused. */
  function isHopeless({ pool, refusedBy = [] }: Session, forGood: ForGood): boolean {
    if (forGood !== 'here') return forGood === 'anywhere';
    for (const { id } of store.view.agents.by('owner', pool)) if (!refusedBy.includes(id)) return false;
    return true;
  }

  return {
    end: endSession,
    requeue: (session, why) => backToQueue(session, {}, why),
    lost(session, why) {
      const losses = session.losses ?? 0;
      if (session.kill) {
        endSession(session, { end: { how: session.kill.isTimeout ? 'timeout' : 'killed', message: why } });
      } else if (losses < session.spec.retries && canQueue(session)) {
        backToQueue(session, { losses: losses + 1 }, why);
      } else {
        endSession(session, { end: { how: 'lost', message: why }, event: why });
      }
    },
    refused(session, why, forGood) {
      const refusedBy = [...(session.refusedBy ?? []), session.worker ?? ''];
      const asked = { ...session, refusedBy };
      if (session.kill) {
        endSession(asked, { end: { how: 'cancelled', message: why } });
      } else if (refusedBy.length > MOST_REFUSALS || isHopeless(asked, forGood)) {
        endSession(asked, { end: { how: 'refused', message: why }, event: why });
      } else {
        backToQueue(session, { refusedBy }, why);
      }
    },
  };
}
