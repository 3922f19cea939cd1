import type { Event } from '../../api/wire/event.ts';
import type { Session } from '../../api/wire/session.ts';

export interface AttemptPhase {
  readonly phase: 'queued' | 'starting' | 'running';
  readonly fromMs: number;
  /** Absent: it lasts. */
  readonly toMs?: number | undefined;
}

/** One try of a session, from the queue to its end. */
export interface Attempt {
  readonly number: number;
  readonly worker?: string | undefined;
  readonly phases: readonly AttemptPhase[];
  /** Why it went back into the queue. */
  readonly why?: string | undefined;
}

interface Moments {
  readonly queuedMs: number;
  readonly placedMs: number | undefined;
  readonly startedMs: number | undefined;
  readonly endedMs: number | undefined;
}

function phasesOf({ queuedMs, placedMs, startedMs, endedMs }: Moments): readonly AttemptPhase[] {
  const phases: AttemptPhase[] = [{ phase: 'queued', fromMs: queuedMs, toMs: placedMs ?? endedMs }];
  if (placedMs !== undefined) phases.push({ phase: 'starting', fromMs: placedMs, toMs: startedMs ?? endedMs });
  if (startedMs !== undefined) phases.push({ phase: 'running', fromMs: startedMs, toMs: endedMs });
  return phases;
}

const msOf = (time: unknown): number | undefined => (typeof time === 'string' ? Date.parse(time) : undefined);

/** The attempts of a session: the earlier ones from the events that put it back into the queue, oldest first. */
export function attemptsOf(session: Session, requeued: readonly Event[]): readonly Attempt[] {
  let queuedMs = Date.parse(session.accepted_at);
  const attempts: Attempt[] = [];
  for (const { at, message, fields = {} } of requeued) {
    const endedMs = Date.parse(at);
    const moments = { queuedMs, endedMs, placedMs: msOf(fields.placed_at), startedMs: msOf(fields.started_at) };
    const worker = typeof fields.worker === 'string' ? fields.worker : undefined;
    attempts.push({ number: Number(fields.attempt), worker, phases: phasesOf(moments), why: message });
    queuedMs = endedMs;
  }
  // The row may be older than the events.
  if (attempts.at(-1)?.number === session.attempt && session.worker !== undefined) return attempts;
  const placedMs = msOf(session.placed_at);
  const moments = { queuedMs, placedMs, startedMs: msOf(session.started_at), endedMs: msOf(session.end?.at) };
  const number = placedMs === undefined ? attempts.length + 1 : session.attempt;
  return [...attempts, { number, worker: session.worker, phases: phasesOf(moments) }];
}
