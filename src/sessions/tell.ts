import type { Session } from '#core/session.ts';
import type { SessionsDeps } from './deps.ts';
import type { Presence } from './presence.ts';

/** Speaks to agents. Call it only when what is said is durable. */
export interface Tell {
  /** Sends a placed session to its agent, once for each connection; one whose agent is away is settled when it returns. */
  start(session: Session): void;
  kill(session: Session): void;
  /** Ends what the agent runs and should not. */
  killGhost(agent: string, session: string): void;
  ack(agent: string, ack: Ack): void;
  /** The agent knows of it by this connection: it lists it, or was sent it after it made its list. */
  isTold(session: Session): boolean;
  noteListed(session: Session): void;
  /** Certain that no agent has ever heard of this attempt. */
  isNeverTold(session: Session): boolean;
  forget(id: string): void;
}

export interface Ack {
  readonly session: string;
  readonly attempt: number;
  readonly seq: number;
  readonly result: boolean;
}

export function openTell({ store: { view }, link }: Pick<SessionsDeps, 'store' | 'link'>, presence: Presence): Tell {
  const toldAtEpoch = new Map<string, number>();
  // Placed by a process before this one, which may have sent them or not.
  const inherited = new Set<string>();
  for (const session of view.sessions.all()) if (session.worker !== undefined) inherited.add(session.id);

  const epochOf = (session: Session): number | undefined => view.agents.get(session.worker ?? '')?.epoch;

  function isTold(session: Session): boolean {
    const epoch = toldAtEpoch.get(session.id);
    return epoch !== undefined && epoch === epochOf(session);
  }

  return {
    start({ id, attempt, spec }) {
      const session = view.sessions.get(id);
      // Placed anew meanwhile: that placement is not durable yet, and will be sent when it is.
      if (!session?.worker || session.attempt !== attempt || session.startedAt !== undefined) return;
      const epoch = epochOf(session);
      if (epoch === undefined || isTold(session) || !presence.isSettled(session.worker)) return;
      if (link.send(session.worker, { do: 'start', session: id, attempt, spec })) toldAtEpoch.set(id, epoch);
    },
    kill(session) {
      if (!session.worker || !session.kill) return;
      const { force } = session.kill;
      link.send(session.worker, { do: 'kill', session: session.id, force, graceMs: session.spec.graceMs });
    },
    killGhost(agent, session) {
      // The command names no attempt: it must not reach a newer one that was placed there.
      if (view.sessions.get(session)?.worker === agent) return;
      link.send(agent, { do: 'kill', session, force: true, graceMs: 0 });
    },
    ack: (agent, ack) => void link.send(agent, { do: 'ack', ...ack }),
    isTold,
    noteListed(session) {
      const epoch = epochOf(session);
      if (epoch !== undefined) toldAtEpoch.set(session.id, epoch);
    },
    isNeverTold: (session) => !toldAtEpoch.has(session.id) && !inherited.has(session.id),
    forget(id) {
      toldAtEpoch.delete(id);
      inherited.delete(id);
    },
  };
}
