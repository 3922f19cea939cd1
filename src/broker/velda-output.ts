// Output of sessions on Velda agents: what runs a session there pushes it by a call of its own, without credentials.
import type { AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/store.ts';
import type { Agents } from './agents.ts';
import { decode } from './codec.ts';
import { LogTaskResponse_Stream, type PushLogsRequest, PushLogsRequestSchema } from './gen/velda/task_pb.ts';
import type { Handler, Listener, RpcCaller, Stream } from './transport.ts';
import { tame } from './wire/frame.ts';

// What is on its way when the end is told arrives within this time, or is lost.
const LATE_OUTPUT_MS = 5_000;
const PIECE_BYTES = 64 * 1024;
// Such an agent does not number its output, and we forget the numbers with the process: each holder has a range of its
// own above that of the one before. It has a number for each byte that is kept of a session.
const NUMBERS_PER_EPOCH = 2 ** 26;

export interface VeldaOutputOptions {
  readonly view: Pick<Store['view'], 'sessions' | 'agents'>;
  readonly agents: Pick<Agents, 'get'>;
  readonly clock: Clock;
  /** Of the holder. */
  readonly epoch: number;
  report(agent: string, report: AgentReport): void;
}

export interface VeldaOutput {
  readonly pushLogs: Handler;
  /** The number of a session's last piece, once no more can come or is waited for; forgets the session. */
  lastSeq(session: string, hurry?: AbortSignal): Promise<number>;
  /** Forgets what is no longer alive. */
  sweep(): void;
}

/** The output of one attempt so far. */
interface Course {
  readonly agent: string;
  readonly session: string;
  readonly attempt: number;
  seq: number;
  openCalls: number;
  ended?: () => void;
}

export function createVeldaOutput({ view, agents, clock, epoch, report }: VeldaOutputOptions): VeldaOutput {
  const courses = new Map<string, Course>();
  const firstSeq = (epoch - 1) * NUMBERS_PER_EPOCH;

  /** Only from where the session runs, and only for an agent that has no better way. */
  function admit(task: string, caller: RpcCaller): Course {
    const session = view.sessions.get(task);
    const agent = session?.worker === undefined ? undefined : view.agents.get(session.worker);
    const [, , claimed = task] = (caller.header('velda-session') ?? '').split(':');
    const isThere = agent?.wire === 'velda' && agents.get(agent.id)?.peerAddress === caller.peerAddress;
    if (!session || !agent || !isThere || claimed !== task) {
      const remedy = 'Output is taken from the machine that runs the session, while it runs.';
      throw new Fault('denied', `No output is expected for "${tame(task, 100)}" from here.`, { remedy });
    }
    const known = courses.get(task);
    if (known?.attempt === session.attempt) return known;
    const course = { agent: agent.id, session: task, attempt: session.attempt, seq: firstSeq, openCalls: 0 };
    courses.set(task, course);
    return course;
  }

  function push(course: Course, { stream, data }: PushLogsRequest): void {
    const { agent, session, attempt } = course;
    const name = stream === LogTaskResponse_Stream.STDERR ? 'stderr' : 'stdout';
    for (let at = 0; at < data.length; at += PIECE_BYTES) {
      course.seq += 1;
      const piece = new Uint8Array(data.subarray(at, at + PIECE_BYTES));
      report(agent, { is: 'output', session, attempt, seq: course.seq, stream: name, data: piece });
    }
  }

  function pushLogs(stream: Stream): Listener {
    let course: Course | undefined;
    return {
      message(bytes) {
        const request = decode(PushLogsRequestSchema, bytes);
        if (!course) {
          course = admit(request.taskId, stream.caller);
          course.openCalls += 1;
        }
        if (request.taskId !== course.session) {
          throw new Fault('invalid', 'The task changes within the call.', { at: 'task_id' });
        }
        push(course, request);
      },
      halfClosed() {
        stream.write(new Uint8Array(), () => {});
        stream.end();
      },
      closed() {
        if (!course) return;
        course.openCalls -= 1;
        if (course.openCalls === 0) course.ended?.();
      },
    };
  }

  return {
    pushLogs,
    async lastSeq(session, hurry) {
      const course = courses.get(session);
      if (!course) return 0;
      if (course.openCalls > 0 && !hurry?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const cancel = clock.alarm(LATE_OUTPUT_MS, resolve);
        hurry?.addEventListener('abort', () => resolve(), { once: true });
        course.ended = resolve;
        await promise;
        cancel();
      }
      courses.delete(session);
      return course.seq;
    },
    sweep() {
      for (const session of courses.keys()) if (!view.sessions.get(session)) courses.delete(session);
    },
  };
}
