// Output of sessions on Velda agents: the process that runs a session there pushes it by a call of its own, without credentials.
import type { AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/store.ts';
import { tame } from '#wire/foreign-text.ts';
import { LogTaskResponse_Stream, type PushLogsRequest, PushLogsRequestSchema } from '#wire/gen/velda/task_pb.ts';
import { decode } from '#wire/messages.ts';
import type { Agents } from './agents.ts';
import type { RpcCaller, RpcHandler, RpcListener, RpcStream } from './transport.ts';

// Output that is in flight when the end is reported arrives within this time, or is lost.
const LATE_OUTPUT_MS = 5_000;
const PIECE_BYTES = 64 * 1024;
// A Velda agent does not number its output, and our numbers end with the process: each holder has a range of its own
// above that of the one before, with a number for each byte that is kept of a session.
const NUMBERS_PER_HOLDER = 2 ** 26;

export interface VeldaOutputOptions {
  readonly view: Pick<Store['view'], 'sessions' | 'agents'>;
  readonly agents: Pick<Agents, 'get'>;
  readonly clock: Clock;
  /** Number of the replica's holdership; grows with each change of holder. */
  readonly holderEpoch: number;
  report(agent: string, report: AgentReport): void;
}

export interface VeldaOutput {
  readonly pushLogs: RpcHandler;
  /** The number of a session's last piece, once no more can come or the wait is over; forgets the session. */
  lastSeq(session: string, hurry?: AbortSignal): Promise<number>;
  /** Forgets sessions that have ended. */
  sweep(): void;
  /** Ends all open calls: what runs a session goes on without them, and a stop waits for none. */
  stop(): void;
}

/** The output of one attempt so far. */
interface AttemptOutput {
  readonly agent: string;
  readonly session: string;
  readonly attempt: number;
  seq: number;
  openCalls: number;
  ended?: () => void;
}

export function createVeldaOutput({ view, agents, clock, holderEpoch, report }: VeldaOutputOptions): VeldaOutput {
  const attempts = new Map<string, AttemptOutput>();
  const open = new Set<RpcStream>();
  const firstSeq = (holderEpoch - 1) * NUMBERS_PER_HOLDER;

  /** Accepts output only from the machine that runs the session, and only for Velda agents. */
  function admit(task: string, caller: RpcCaller): AttemptOutput {
    const session = view.sessions.get(task);
    const agent = session?.worker === undefined ? undefined : view.agents.get(session.worker);
    const [, , claimed = task] = (caller.header('velda-session') ?? '').split(':');
    const isThere = agent?.wire === 'velda' && agents.get(agent.id)?.peerAddress === caller.peerAddress;
    if (!session || !agent || !isThere || claimed !== task) {
      const remedy = 'Push output from the machine that runs the session, while it runs.';
      throw new Fault('denied', `This caller may not push output of session "${tame(task, 100)}".`, { remedy });
    }
    const known = attempts.get(task);
    if (known?.attempt === session.attempt) return known;
    const output = { agent: agent.id, session: task, attempt: session.attempt, seq: firstSeq, openCalls: 0 };
    attempts.set(task, output);
    return output;
  }

  function push(output: AttemptOutput, { stream, data }: PushLogsRequest): void {
    const { agent, session, attempt } = output;
    const name = stream === LogTaskResponse_Stream.STDERR ? 'stderr' : 'stdout';
    for (let at = 0; at < data.length; at += PIECE_BYTES) {
      output.seq += 1;
      const piece = new Uint8Array(data.subarray(at, at + PIECE_BYTES));
      report(agent, { is: 'output', session, attempt, seq: output.seq, stream: name, data: piece });
    }
  }

  function pushLogs(stream: RpcStream): RpcListener {
    let output: AttemptOutput | undefined;
    open.add(stream);
    return {
      message(bytes) {
        const request = decode(PushLogsRequestSchema, bytes);
        if (!output) {
          output = admit(request.taskId, stream.caller);
          output.openCalls += 1;
        }
        if (request.taskId !== output.session) {
          throw new Fault('invalid', 'The task_id differs from that of the first message.', { at: 'task_id' });
        }
        push(output, request);
      },
      halfClosed() {
        stream.write(new Uint8Array(), () => {});
        stream.end();
      },
      closed() {
        open.delete(stream);
        if (!output) return;
        output.openCalls -= 1;
        if (output.openCalls === 0) output.ended?.();
      },
    };
  }

  return {
    pushLogs,
    async lastSeq(session, hurry) {
      const output = attempts.get(session);
      if (!output) return 0;
      if (output.openCalls > 0 && !hurry?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const cancel = clock.alarm(LATE_OUTPUT_MS, resolve);
        hurry?.addEventListener('abort', () => resolve(), { once: true });
        output.ended = resolve;
        await promise;
        cancel();
      }
      attempts.delete(session);
      return output.seq;
    },
    sweep() {
      for (const session of attempts.keys()) if (!view.sessions.get(session)) attempts.delete(session);
    },
    stop() {
      for (const stream of open) stream.end(new Fault('unavailable', 'The server is stopping.'));
    },
  };
}
