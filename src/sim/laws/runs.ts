import type { SimAgent } from '../agent.ts';
import type { AgentRun } from '../agent-run.ts';
import type { Invariants } from '../invariants.ts';

/** Every start of a session on any machine, as the machines have it. */
export interface RunLaws {
  started(run: AgentRun, agent: SimAgent): void;
  /** That attempt, wherever it ran. */
  find(session: string, attempt: number): AgentRun | undefined;
  /** Its final state is durable: nothing of it will be asked for. */
  forget(session: string): void;
}

interface Start {
  readonly run: AgentRun;
  readonly machine: string;
}

export function runLaws(invariants: Invariants, exists: (machine: string) => boolean): RunLaws {
  const bySession = new Map<string, Start[]>();

  return {
    started(run, agent) {
      const { session, attempt } = run;
      const starts = bySession.get(session);
      const twin = starts?.find((start) => start.run.attempt === attempt);
      invariants.holds(
        'one-start',
        !twin,
        () => `attempt ${attempt} of session ${session} started on ${twin?.machine}, and again on ${agent.name}`,
      );
      const copy = starts?.find((start) => start.run !== run && exists(start.machine));
      invariants.holds('one-copy', !copy, () => {
        const state = copy?.run.isOver ? 'ran' : 'still runs';
        return `session ${session} started on ${agent.name}, while attempt ${copy?.run.attempt} ${state} on ${copy?.machine}, which exists`;
      });
      invariants.holds(
        'one-slot',
        agent.running <= agent.slots,
        () => `${agent.name} has ${agent.slots} slots and runs ${agent.running} sessions`,
      );
      const start = { run, machine: agent.name };
      if (starts) starts.push(start);
      else bySession.set(session, [start]);
    },
    find: (session, attempt) => bySession.get(session)?.find((start) => start.run.attempt === attempt)?.run,
    forget: (session) => void bySession.delete(session),
  };
}
