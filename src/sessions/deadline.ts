import { SELF } from '#core/journal.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import type { Agent } from '#core/worker.ts';
import { commitThen, type SessionsDeps } from './deps.ts';
import { ghostOf, type Presence } from './presence.ts';
import type { Settle } from './settle.ts';
import type { Tell } from './tell.ts';

/** Beyond its own limits, how long an agent may stay silent about a session before we stop believing in it. */
const SILENCE_MS = 30_000;

export interface Step {
  readonly at: number;
  readonly do: 'kill' | 'force' | 'give up';
}

/**
 * What is due for a running session, and when. Our own agents keep time limits and graces themselves, so that they
 * hold without us; Velda's know neither, so there we do it.
 */
export function nextStep(session: Session, wire: Agent['wire']): Step | undefined {
  const { startedAt, kill, spec } = session;
  const endsAt = startedAt !== undefined && spec.timeoutMs !== undefined ? startedAt + spec.timeoutMs : undefined;
  if (wire === 'muster')
    return endsAt === undefined ? undefined : { at: endsAt + spec.graceMs + SILENCE_MS, do: 'give up' };
  if (!kill) return endsAt === undefined ? undefined : { at: endsAt, do: 'kill' };
  if (!kill.force) return { at: kill.at + spec.graceMs, do: 'force' };
  return kill.isTimeout ? { at: kill.at + SILENCE_MS, do: 'give up' } : undefined;
}

/** Ends sessions whose time is over and whose agent does not, or cannot, see to it. */
export interface Deadlines {
  /** Looks again at what is due. */
  watch(session: Session): void;
  /** Its agent is back: before it is given up it gets one more moment to say what happened meanwhile. */
  rejoined(session: Session): void;
  forget(id: string): void;
  stop(): void;
}

export interface DeadlineParts {
  readonly presence: Presence;
  readonly tell: Tell;
  readonly settle: Settle;
}

export function openDeadlines(deps: SessionsDeps, { presence, tell, settle }: DeadlineParts): Deadlines {
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

  function act(id: string, attempt: number, what: Step['do']): void {
    const session = store.view.sessions.get(id);
    // An agent that is away may have kept the limit; it will say so when it returns.
    if (!session?.worker || session.attempt !== attempt || !presence.isSettled(session.worker)) return;
    if (what === 'give up') return giveUp(session, session.worker);
    const asked = session.kill ?? { by: SELF.who, isTimeout: true };
    const row: Session = { ...session, kill: { ...asked, at: clock.now(), force: what === 'force' } };
    commitThen(deps, [put('sessions', row)], () => tell.kill(row));
    watch(row);
  }

  function giveUp(session: Session, agent: string): void {
    const message = 'Its time was over and its agent did not say that it ended.';
    // It may still run there, so its slot stays taken until the agent says otherwise.
    presence.addGhost(agent, ghostOf(session.id, session.attempt));
    const then = (): void => tell.killGhost(agent, session.id);
    settle.finish(session, { end: { how: 'timeout', message }, event: message, then });
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
