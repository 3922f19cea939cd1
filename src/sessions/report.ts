import type { AgentReport } from '#core/agent-link.ts';
import type { Session, SessionEnd } from '#core/session.ts';
import { put } from '#core/store.ts';
import type { AgentSlots } from './agent-slots.ts';
import type { Deadlines } from './deadline.ts';
import type { Delivery } from './delivery.ts';
import { commitThen, type SessionsDeps, whenDurable } from './deps.ts';
import type { FinishAttempt } from './finish-attempt.ts';
import type { OutputKeeper } from './output.ts';
import type { UnknownSessions } from './unknown-sessions.ts';

type Report<Is extends AgentReport['is']> = Extract<AgentReport, { is: Is }>;

export interface ReportParts {
  readonly agentSlots: AgentSlots;
  readonly delivery: Delivery;
  readonly finishAttempt: FinishAttempt;
  readonly output: OutputKeeper;
  readonly deadlines: Deadlines;
  readonly unknownSessions: UnknownSessions;
  inputTaken(session: string, bytes: number): void;
}

/** Takes the reports of agents. Each may come twice; one about another attempt, or from another agent, is void. */
export function openReport(
  deps: SessionsDeps,
  { agentSlots, delivery, finishAttempt, output, deadlines, unknownSessions, inputTaken }: ReportParts,
) {
  const { store, clock } = deps;

  function started(session: Session): void {
    if (session.startedAt !== undefined) return;
    const row: Session = { ...session, startedAt: clock.now() };
    commitThen(deps, [put('sessions', row)]);
    deadlines.watch(row);
  }

  // An agent of Velda gives no reason. It may have been stopping; after a second refusal the session itself is the reason.
  const isSecondWithoutReason = ({ refusedBy }: Session, agent: string): boolean =>
    store.view.agents.get(agent)?.wire === 'velda' && refusedBy?.includes(agent) === true;

  function refused(session: Session, agent: string, { attempt, why, ...said }: Report<'refused'>): void {
    const forGood = said.forGood ?? (isSecondWithoutReason(session, agent) ? 'here' : undefined);
    // An agent that cannot run this one may well run the next.
    if (!forGood) agentSlots.coolDown(agent);
    finishAttempt.refused(session, why, forGood);
    whenDurable(deps, () => delivery.ack(agent, { session: session.id, attempt, seq: 0, result: true }));
  }

  function ended(session: Session, agent: string, report: Report<'ended'>): void {
    const { attempt, lastSeq: seq } = report;
    const then = (): void => delivery.ack(agent, { session: session.id, attempt, seq, result: true });
    if (report.how === 'lost') {
      finishAttempt.lost(session, report.message ?? 'The agent ended the session without a result.');
      return whenDurable(deps, then);
    }
    finishAttempt.end(session, { end: endOf(session, report), then });
  }

  /** Acknowledges when all is durable: the same report may have come just before, and its commit may be under way. */
  function voided(agent: string, report: AgentReport): void {
    const { session, attempt } = report;
    switch (report.is) {
      case 'started':
        return unknownSessions.met(agent, [{ session, attempt }]);
      case 'input taken':
        return;
      case 'output':
        return whenDurable(deps, () => delivery.ack(agent, { session, attempt, seq: report.seq, result: false }));
      case 'refused':
      case 'ended': {
        const seq = report.is === 'ended' ? report.lastSeq : 0;
        unknownSessions.over(agent, { session, attempt });
        return whenDurable(deps, () => delivery.ack(agent, { session, attempt, seq, result: true }));
      }
    }
  }

  function take(agent: string, report: AgentReport): void {
    const session = store.view.sessions.get(report.session);
    if (session?.worker !== agent || session.attempt !== report.attempt) return voided(agent, report);
    if (report.is === 'started') return started(session);
    if (report.is === 'refused') return refused(session, agent, report);
    if (report.is === 'input taken') return inputTaken(session.id, report.bytes);
    if (!output.isReady(session, () => take(agent, report))) return;
    if (report.is === 'output') output.keep(session, report);
    else ended(session, agent, report);
  }

  return take;
}

/** An agent that does not know the time limit reports it as any other kill. */
function endOf({ kill }: Session, { how, exitCode, signal, message }: Report<'ended'>): Omit<SessionEnd, 'at'> {
  const isLimit = kill?.isTimeout === true && (how === 'killed' || how === 'signalled');
  return {
    how: isLimit ? 'timeout' : how,
    ...(exitCode !== undefined && !isLimit && { exitCode }),
    ...(signal !== undefined && { signal }),
    ...(message !== undefined && { message }),
  };
}
