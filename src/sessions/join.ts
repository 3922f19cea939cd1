import type { Hello } from '#core/agent-link.ts';
import type { Session } from '#core/session.ts';
import { put } from '#core/store.ts';
import type { Agent } from '#core/worker.ts';
import type { Deadlines } from './deadline.ts';
import { commitThen, type SessionsDeps, whenDurable } from './deps.ts';
import type { Orphans } from './orphans.ts';
import { ghostOf, type Presence } from './presence.ts';
import type { Settle } from './settle.ts';
import type { Tell } from './tell.ts';

export interface JoinParts {
  readonly presence: Presence;
  readonly tell: Tell;
  readonly settle: Settle;
  readonly orphans: Orphans;
  readonly deadlines: Deadlines;
}

/** Settles what an agent says that it runs against what we think it runs; only then does it get anything new. */
export function openJoin(deps: SessionsDeps, { presence, tell, settle, orphans, deadlines }: JoinParts) {
  const { store, clock } = deps;
  const { view } = store;

  function listed(session: Session): void {
    tell.noteListed(session);
    orphans.present(session);
    const row = session.startedAt === undefined ? { ...session, startedAt: clock.now() } : session;
    if (row !== session) commitThen(deps, [put('sessions', row)], () => {});
    if (row.kill) whenDurable(deps, () => tell.kill(row));
    deadlines.rejoined(row);
  }

  function absent(session: Session, agent: Agent): void {
    // Our agents keep every session until its end is acknowledged, so one that is not there never came.
    // Velda's lose an end whose sending failed: not there may mean that it ran, unless we never sent it.
    const neverCame = session.startedAt === undefined && (agent.wire === 'muster' || tell.isNeverTold(session));
    if (!neverCame) return orphans.absent(session);
    const worker = view.workers.get(agent.id);
    if (session.kill) {
      settle.finish(session, { end: { how: 'cancelled', message: 'Ended before it started.' } });
    } else if (presence.excess(agent.id) > 0 || worker?.drain || worker?.removal) {
      settle.unplace(session, 'Its agent came back without room for it.');
    } else {
      whenDurable(deps, () => tell.start(session));
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
    const ghosts = foreign.map(({ session, attempt }) => ghostOf(session, attempt));
    presence.settle(name, ghosts);
    // It reports their ends as it does all others, and each report is acknowledged: then it forgets them.
    whenDurable(deps, () => {
      for (const { session } of foreign) tell.killGhost(name, session);
    });
    for (const session of [...view.sessions.by('worker', name)]) {
      if (ours.has(session.id)) listed(session);
      else if (!tell.isTold(session)) absent(session, agent);
    }
  };
}
