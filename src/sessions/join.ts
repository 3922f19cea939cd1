import type { Hello } from '#core/agent-link.ts';
import type { Agent } from '#core/machine.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import { type AgentSlots, strayKey } from './agent-slots.ts';
import type { Deadlines } from './deadline.ts';
import type { Delivery } from './delivery.ts';
import { commitThen, type SessionsDeps, whenDurable } from './deps.ts';
import type { FinishAttempt } from './finish-attempt.ts';
import type { LostSessions } from './lost-sessions.ts';
import { isLeaving } from './owner.ts';
import type { UnknownSessions } from './unknown-sessions.ts';

export interface JoinParts {
  readonly agentSlots: AgentSlots;
  readonly delivery: Delivery;
  readonly finishAttempt: FinishAttempt;
  readonly lostSessions: LostSessions;
  readonly deadlines: Deadlines;
  readonly unknownSessions: UnknownSessions;
}

/** Reconciles what an agent runs with the sessions that are placed on it; only then does it get new ones. */
export function openJoin(
  deps: SessionsDeps,
  { agentSlots, delivery, finishAttempt, lostSessions, deadlines, unknownSessions }: JoinParts,
) {
  const { store, clock } = deps;
  const { view } = store;

  function listed(session: Session): void {
    delivery.noteListed(session);
    lostSessions.present(session);
    const row = session.startedAt === undefined ? { ...session, startedAt: clock.now() } : session;
    if (row !== session) commitThen(deps, [put('sessions', row)]);
    if (row.kill) whenDurable(deps, () => delivery.kill(row));
    deadlines.rejoined(row);
  }

  function absent(session: Session, agent: Agent): void {
    // A Muster agent keeps every session until its end is acknowledged, so it never received one that it does not list.
    // A Velda agent loses an end that it failed to send: a session that it does not list may have run, unless we never sent it.
    const neverReceived = session.startedAt === undefined && (agent.wire === 'muster' || delivery.isNeverSent(session));
    if (!neverReceived) return lostSessions.absent(session);
    if (session.kill) {
      finishAttempt.end(session, { end: { how: 'cancelled', message: 'The session was killed before it started.' } });
    } else if (agentSlots.excess(agent.id) > 0 || isLeaving(store, agent.id)) {
      finishAttempt.requeue(session, 'The agent reconnected without a free slot for the session.');
    } else {
      whenDurable(deps, () => delivery.start(session));
    }
  }

  return (name: string, executions: Hello['executions']): void => {
    const agent = view.agents.get(name);
    if (!agent) return;
    const ours = new Set<string>();
    const foreign: Hello['executions'][number][] = [];
    for (const execution of executions) {
      const session = view.sessions.get(execution.session);
      if (session?.worker === name && session.attempt === execution.attempt) ours.add(session.id);
      else foreign.push(execution);
    }
    const strays = foreign.map(({ session, attempt }) => strayKey(session, attempt));
    agentSlots.reconciled(name, strays);
    if (foreign.length > 0) unknownSessions.met(name, foreign);
    for (const session of [...view.sessions.by('worker', name)]) {
      if (ours.has(session.id)) listed(session);
      else if (!delivery.isKnownToAgent(session)) absent(session, agent);
    }
  };
}
