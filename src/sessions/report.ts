import type { AgentReport } from '#core/agent-link.ts';
import type { Session, SessionEnd } from '#core/session.ts';
import { put } from '#core/store.ts';
import type { Deadlines } from './deadline.ts';
import { commitThen, type SessionsDeps, whenDurable } from './deps.ts';
import type { OutputKeeper } from './output.ts';
import { ghostOf, type Presence } from './presence.ts';
import type { Settle } from './settle.ts';
import type { Tell } from './tell.ts';

type Report<Is extends AgentReport['is']> = Extract<AgentReport, { is: Is }>;

export interface ReportParts {
  readonly presence: Presence;
  readonly tell: Tell;
  readonly settle: Settle;
  readonly output: OutputKeeper;
  readonly deadlines: Deadlines;
}

/** Takes in what agents say. Everything may come twice; what is about another attempt, or from another agent, is void. */
export function openReport(deps: SessionsDeps, { presence, tell, settle, output, deadlines }: ReportParts) {
  const { store, clock } = deps;

  function started(session: Session): void {
    if (session.startedAt !== undefined) return;
    const row: Session = { ...session, startedAt: clock.now() };
    commitThen(deps, [put('sessions', row)], () => {});
    deadlines.watch(row);
  }

  function refused(session: Session, agent: string, { attempt, why }: Report<'refused'>): void {
    presence.rest(agent);
    settle.refuse(session, why);
    whenDurable(deps, () => tell.ack(agent, { session: session.id, attempt, seq: 0, result: true }));
  }

  function ended(session: Session, agent: string, report: Report<'ended'>): void {
    const { attempt, lastSeq: seq } = report;
    const then = (): void => tell.ack(agent, { session: session.id, attempt, seq, result: true });
    settle.finish(session, { end: endOf(session, report), then });
  }

  /** The agent may forget it, once that on which our answer rests is durable: perhaps we heard it before, just now. */
  function voided(agent: string, report: AgentReport): void {
    const { session, attempt } = report;
    const ghost = ghostOf(session, attempt);
    switch (report.is) {
      case 'started':
        presence.addGhost(agent, ghost);
        return whenDurable(deps, () => tell.killGhost(agent, session));
      case 'output':
        return whenDurable(deps, () => tell.ack(agent, { session, attempt, seq: report.seq, result: false }));
      case 'refused':
      case 'ended': {
        const seq = report.is === 'ended' ? report.lastSeq : 0;
        presence.dropGhost(agent, ghost);
        return whenDurable(deps, () => tell.ack(agent, { session, attempt, seq, result: true }));
      }
    }
  }

  function take(agent: string, report: AgentReport): void {
    const session = store.view.sessions.get(report.session);
    if (session?.worker !== agent || session.attempt !== report.attempt) return voided(agent, report);
    if (report.is === 'started') return started(session);
    if (report.is === 'refused') return refused(session, agent, report);
    if (!output.isReady(session, () => take(agent, report))) return;
    if (report.is === 'output') output.keep(session, report);
    else ended(session, agent, report);
  }

  return take;
}

/** Our own limit shows to an agent that does not know it as any other kill. */
function endOf({ kill }: Session, { how, exitCode, signal, message }: Report<'ended'>): Omit<SessionEnd, 'at'> {
  const isLimit = kill?.isTimeout === true && (how === 'killed' || how === 'signalled');
  return {
    how: isLimit ? 'timeout' : how,
    ...(exitCode !== undefined && !isLimit && { exitCode }),
    ...(signal !== undefined && { signal }),
    ...(message !== undefined && { message }),
  };
}
