import { type SessionPhase, sessionPhase } from '#core/session.ts';
import type { Store } from '#core/store.ts';

/** Live sessions by phase; phases without any are left out. */
export function countSessions(store: Store): Partial<Record<SessionPhase, number>> {
  const counts: Partial<Record<SessionPhase, number>> = {};
  for (const session of store.view.sessions.all()) {
    const phase = sessionPhase(session, store.view.agents.get(session.worker ?? '') !== undefined);
    counts[phase] = (counts[phase] ?? 0) + 1;
  }
  return counts;
}
