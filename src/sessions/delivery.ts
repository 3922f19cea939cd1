import type { Session } from '#core/session.ts';
import type { AgentSlots } from './agent-slots.ts';
import type { SessionsDeps } from './deps.ts';

/** Sends commands to agents. Call it only when all that a command depends on is durable. */
export interface Delivery {
  /** Sends a placed session to its agent, once for each connection. If the agent is disconnected, `join.ts` does it later. */
  start(session: Session): void;
  kill(session: Session): void;
  /** Kills an attempt that the agent runs and that is no live session of ours. */
  killStray(agent: string, session: string): void;
  ack(agent: string, ack: Ack): void;
  /** The agent listed the session on this connection, or was sent it after that list. */
  isKnownToAgent(session: Session): boolean;
  noteListed(session: Session): void;
  /** Certainly no agent was ever sent this attempt. */
  isNeverSent(session: Session): boolean;
  forget(id: string): void;
}

export interface Ack {
  readonly session: string;
  readonly attempt: number;
  readonly seq: number;
  readonly result: boolean;
}

export function openDelivery(
  { store: { view }, link }: Pick<SessionsDeps, 'store' | 'link'>,
  agentSlots: AgentSlots,
): Delivery {
  // By session: the epoch of the agent's connection that it was sent on.
  const sentOnConnection = new Map<string, number>();
  // Placed by an earlier process, which may have sent them or not.
  const inherited = new Set<string>();
  for (const session of view.sessions.all()) if (session.worker !== undefined) inherited.add(session.id);

  const connectionOf = (session: Session): number | undefined => view.agents.get(session.worker ?? '')?.epoch;

  function isKnownToAgent(session: Session): boolean {
    const connection = sentOnConnection.get(session.id);
    return connection !== undefined && connection === connectionOf(session);
  }

  return {
    start({ id, attempt, spec }) {
      const session = view.sessions.get(id);
      // Placed again meanwhile: that placement is not durable yet, and will be sent when it is.
      if (!session?.worker || session.attempt !== attempt || session.startedAt !== undefined) return;
      const connection = connectionOf(session);
      if (connection === undefined || isKnownToAgent(session) || !agentSlots.isReconciled(session.worker)) return;
      if (link.send(session.worker, { do: 'start', session: id, attempt, spec })) sentOnConnection.set(id, connection);
    },
    kill(session) {
      if (!session.worker || !session.kill) return;
      const { force } = session.kill;
      link.send(session.worker, { do: 'kill', session: session.id, force, graceMs: session.spec.graceMs });
    },
    killStray(agent, session) {
      // The command names no attempt: it must not reach a newer one that was placed there.
      if (view.sessions.get(session)?.worker === agent) return;
      link.send(agent, { do: 'kill', session, force: true, graceMs: 0 });
    },
    ack: (agent, ack) => void link.send(agent, { do: 'ack', ...ack }),
    isKnownToAgent,
    noteListed(session) {
      const connection = connectionOf(session);
      if (connection !== undefined) sentOnConnection.set(session.id, connection);
    },
    isNeverSent: (session) => !sentOnConnection.has(session.id) && !inherited.has(session.id),
    forget(id) {
      sentOnConnection.delete(id);
      inherited.delete(id);
    },
  };
}
