// One attempt of a session on a simulated machine, as the real agent keeps it: until its end is acknowledged.
import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { type Work, workOf } from './work.ts';

type Start = Extract<AgentCommand, { do: 'start' }>;
type Ended = Extract<AgentReport, { is: 'ended' }>;

export interface RunOptions {
  readonly clock: Clock;
  /** Dropped while the agent is not connected: all that is not acknowledged is said again. */
  report(report: AgentReport): void;
  /** Nothing of it runs any more. */
  ended(run: AgentRun): void;
  forgotten(run: AgentRun): void;
}

export interface AgentRun {
  readonly session: string;
  readonly attempt: number;
  readonly isOver: boolean;
  /** How many pieces of output it has made. */
  readonly lastSeq: number;
  stop(how: Ended['how'], afterMs: number): void;
  ack(seq: number, result: boolean): void;
  replay(): void;
  /** Its machine is gone, and all that was kept there. */
  vanish(): void;
}

const PIECE = new TextEncoder().encode('working\n');

export function startRun({ session, attempt, spec }: Start, options: RunOptions): AgentRun {
  const { clock, report } = options;
  const work: Work = workOf(spec);
  let made = 0;
  let acked = 0;
  let end: Ended | undefined;
  let isGone = false;
  let cancelStop = (): void => {};

  function say(seq: number): void {
    report({ is: 'output', session, attempt, seq, stream: 'stdout', data: PIECE });
  }

  function make(most: number): void {
    while (made < most) say(++made);
  }

  function finish(how: Ended['how']): void {
    if (end || isGone) return;
    cancelEnd();
    cancelStop();
    if (how === 'exited') make(work.pieces);
    const exitCode = how === 'exited' ? { exitCode: work.exitCode } : {};
    end = { is: 'ended', session, attempt, lastSeq: made, how, ...exitCode };
    options.ended(run);
    report(end);
  }

  const limitMs = spec.timeoutMs ?? Number.POSITIVE_INFINITY;
  const cancelEnd = clock.alarm(Math.min(work.durationMs, limitMs), () =>
    finish(work.durationMs <= limitMs ? 'exited' : 'timeout'),
  );

  const run: AgentRun = {
    session,
    attempt,
    get isOver() {
      return end !== undefined || isGone;
    },
    get lastSeq() {
      return made;
    },
    stop(how, afterMs) {
      if (end || isGone) return;
      cancelStop();
      cancelStop = clock.alarm(afterMs, () => finish(how));
    },
    ack(seq, result) {
      acked = Math.max(acked, seq);
      if (result && end) options.forgotten(run);
    },
    replay() {
      report({ is: 'started', session, attempt });
      for (let seq = acked + 1; seq <= made; seq++) say(seq);
      if (end) report(end);
    },
    vanish() {
      isGone = true;
      cancelEnd();
      cancelStop();
    },
  };
  report({ is: 'started', session, attempt });
  make(Math.floor(work.pieces / 2));
  return run;
}
