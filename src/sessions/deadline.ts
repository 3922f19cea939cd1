import { SELF } from '#core/journal.ts';
import type { Agent } from '#core/machine.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import { type AgentSlots, strayKey } from './agent-slots.ts';
import type { Delivery } from './delivery.ts';
import { commitThen, type SessionsDeps } from './deps.ts';
import type { FinishAttempt } from './finish-attempt.ts';

/** How long after a session's limits an agent may stay silent about it before we give the session up. */
const SILENCE_MS = 30_000;

export interface DeadlineStep {
  readonly at: number;
  readonly do: 'kill' | 'force' | 'give up';
}

/**
 * What is due for a running session, and when. Muster agents keep time limits and graces themselves, so both hold
 * while the server is away. Velda agents know neither, so the server does it for them.
 */
export function nextStep(session: Session, wire: Agent['wire']): DeadlineStep | undefined {
  const { startedAt, kill, spec } = session;
  const endsAt = startedAt !== undefined && spec.timeoutMs !== undefined ? startedAt + spec.timeoutMs : undefined;
  if (wire === 'muster')
    return endsAt === undefined ? undefined : { at: endsAt + spec.graceMs + SILENCE_MS, do: 'give up' };
  if (!kill) return endsAt === undefined ? undefined : { at: endsAt, do: 'kill' };
  if (!kill.force) return { at: kill.at + spec.graceMs, do: 'force' };
  return kill.isTimeout ? { at: kill.at + SILENCE_MS, do: 'give up' } : undefined;
}

/** Ends sessions that are past their time limit where the agent does not, or cannot, end them. */
export interface Deadlines {
  /** Sets the alarm for the next step of this session. */
  watch(session: Session): void;
  /** Its agent reconnected: it gets time to report an end before the session is given up. */
  rejoined(session: Session): void;
  forget(id: string): void;
  stop(): void;
}

export interface DeadlineParts {
  readonly agentSlots: AgentSlots;
  readonly delivery: Delivery;
  readonly finishAttempt: FinishAttempt;
}

export function openDeadlines(deps: SessionsDeps, { agentSlots, delivery, finishAttempt }: DeadlineParts): Deadlines {
  const { clock, store } = deps;
  const alarms = new Map<string, () => void>();

  function forget(id: string): void {
    alarms.get(id)?.();
    alarms.delete(id);
  }

  function watch(session: Session, isBack = false): void {
    forget(session.id);
    const wire = store.view.agents.get(session.worker ?? '')?.wire;
    const step = wire && nextStep(session, wire);
    if (!step) return;
    const leastMs = isBack && step.do === 'give up' ? SILENCE_MS : 0;
    const afterMs = Math.max(leastMs, step.at - clock.now());
    const { id, attempt } = session;
    alarms.set(
      id,
      clock.alarm(afterMs, () => {
        alarms.delete(id);
        act(id, attempt, step.do);
      }),
    );
  }

  function act(id: string, attempt: number, what: DeadlineStep['do']): void {
    const session = store.view.sessions.get(id);
    // A disconnected agent may have kept the limit; it reports that when it reconnects.
    if (!session?.worker || session.attempt !== attempt || !agentSlots.isReconciled(session.worker)) return;
    if (what === 'give up') return giveUp(session, session.worker);
    const asked = session.kill ?? { by: SELF.who, isTimeout: true };
    const row: Session = { ...session, kill: { ...asked, at: clock.now(), force: what === 'force' } };
    commitThen(deps, [put('sessions', row)], () => delivery.kill(row));
    watch(row);
  }

  function giveUp(session: Session, agent: string): void {
    const message = 'The session exceeded its time limit, and its agent did not report its end.';
    // It may still run there, so its slot stays taken until the agent reports its end.
    agentSlots.addStray(agent, strayKey(session.id, session.attempt));
    const then = (): void => delivery.killStray(agent, session.id);
    finishAttempt.end(session, { end: { how: 'timeout', message }, event: message, then });
  }

  return {
    watch: (session) => watch(session),
    rejoined: (session) => watch(session, true),
    forget,
    stop() {
      for (const cancel of alarms.values()) cancel();
      alarms.clear();
    },
  };
}
