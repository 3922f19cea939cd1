// A task of Velda's command line is a session here: `velda run --batch -f` follows one.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EmptySchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Fault } from '#core/fault.ts';
import { exitCodeOf, type Session, sessionPhase } from '#core/session.ts';
import type { Store } from '#core/store.ts';
import { tame } from '#wire/foreign-text.ts';
import {
  CancelJobRequestSchema,
  type GetTaskRequest,
  GetTaskRequestSchema,
  type LogTaskRequest,
  LogTaskRequestSchema,
  LogTaskResponse_Stream,
  LogTaskResponseSchema,
  TaskSchema,
  TaskStatus,
} from '#wire/gen/velda/task_pb.ts';
import { encode } from '#wire/messages.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { CallerCheck } from './authorize.ts';
import { type FollowedCall, following } from './following.ts';
import type { RpcMethod } from './method.ts';
import { isOfPool } from './session-calls.ts';
import { unary } from './unary.ts';
import { INSTANCE } from './velda-wire.ts';

const LOOK_EVERY_MS = 250;

export interface TaskCallDeps extends CallerCheck {
  readonly sessions: Pick<Sessions, 'find' | 'ended' | 'output' | 'kill'>;
  readonly view: Pick<Store['view'], 'agents'>;
}

function statusOf({ end, worker, startedAt }: Session): TaskStatus {
  if (!end) return worker !== undefined && startedAt !== undefined ? TaskStatus.RUNNING : TaskStatus.QUEUEING;
  if (end.how === 'cancelled' || end.how === 'killed') return TaskStatus.CANCELLED;
  return end.how === 'exited' && exitCodeOf(end) === 0 ? TaskStatus.SUCCESS : TaskStatus.FAILURE;
}

function shown(session: Session, status = statusOf(session)): MessageInitShape<typeof TaskSchema> {
  const { id, poolName, spec, acceptedAt, startedAt, end } = session;
  const [command = '', ...args] = spec.command;
  const endedAt = end && timestampFromMs(end.at);
  return {
    id,
    instanceId: INSTANCE,
    workload: { command, args, workingDir: spec.cwd ?? '' },
    pool: poolName,
    priority: BigInt(Math.trunc(spec.priority)),
    createdAt: timestampFromMs(acceptedAt),
    ...(startedAt !== undefined && { startedAt: timestampFromMs(startedAt) }),
    ...(end && { finishedAt: endedAt, resolvedAt: endedAt, batchTaskResult: { exitCode: exitCodeOf(end) } }),
    status,
  };
}

/** Velda's command line takes its exit code from the call for output alone: an error is 1, with this text. */
function failureOf({ id, end }: Session): Fault | undefined {
  if (!end || exitCodeOf(end) === 0) return undefined;
  const why = end.message === undefined ? '' : ` ${end.message}`;
  return new Fault('conflict', `The task ended as ${end.how} with exit code ${exitCodeOf(end)}.${why}`, {
    remedy: `See \`muster session show ${id}\`.`,
  });
}

/** The calls of Velda's command line about tasks; `stopping` ends those that follow one. */
export function taskCalls(deps: TaskCallDeps, stopping: AbortSignal): Record<string, RpcMethod> {
  const { sessions, view, clock } = deps;

  async function find(id: string): Promise<Session> {
    const session = await sessions.find(id);
    if (session && isOfPool(session)) return session;
    const remedy = 'See `muster session ls`.';
    throw new Fault('missing', `There is no task ${tame(id, 100)}.`, { remedy });
  }

  /** Answers when the session has another status, and when it has ended. */
  async function changed(id: string, from: string, signal: AbortSignal): Promise<Session> {
    const over = new AbortController();
    const wake = AbortSignal.any([signal, over.signal]);
    sessions.ended(id, wake).then(
      () => over.abort(),
      () => {},
    );
    try {
      for (;;) {
        await clock.sleep(LOOK_EVERY_MS, wake);
        const session = await find(id);
        if (session.end || keyOf(session) !== from) return session;
        signal.throwIfAborted();
      }
    } finally {
      over.abort();
    }
  }

  const keyOf = (session: Session): string =>
    `${sessionPhase(session, view.agents.get(session.worker ?? '') !== undefined)} ${statusOf(session)}`;

  async function watch({ request, signal, say }: FollowedCall<GetTaskRequest>): Promise<void> {
    const { taskId: id } = request;
    const tell = (session: Session, status?: TaskStatus) => say(encode(TaskSchema, shown(session, status)));
    let session = await find(id);
    let hasRun = false;
    while (!session.end) {
      await tell(session);
      hasRun ||= statusOf(session) === TaskStatus.RUNNING;
      session = await changed(id, keyOf(session), signal);
    }
    // Velda's command line reads output only of a task that it saw running, and else waits for it for ever.
    if (!hasRun) await tell(session, TaskStatus.RUNNING);
    await tell(session);
  }

  async function logs({ request, signal, say }: FollowedCall<LogTaskRequest>): Promise<void> {
    const { taskId: id, follow } = request;
    await find(id);
    for await (const { stream: name, data } of sessions.output(id, { follow }, signal)) {
      const stream = name === 'stderr' ? LogTaskResponse_Stream.STDERR : LogTaskResponse_Stream.STDOUT;
      await say(encode(LogTaskResponseSchema, { stream, data: new Uint8Array(data) }));
    }
    const failure = follow && failureOf(await sessions.ended(id, signal));
    if (failure) throw failure;
  }

  return {
    '/velda.TaskService/GetTask': unary(deps, {
      role: 'viewer',
      request: GetTaskRequestSchema,
      answer: TaskSchema,
      run: async ({ taskId }) => shown(await find(taskId)),
    }),
    '/velda.TaskService/CancelJob': unary(deps, {
      role: 'operator',
      request: CancelJobRequestSchema,
      answer: EmptySchema,
      async run({ jobId }, actor) {
        await find(jobId);
        await sessions.kill(jobId, true, actor);
        return {};
      },
    }),
    '/velda.TaskService/WatchTask': following(deps, stopping, {
      request: GetTaskRequestSchema,
      run: watch,
    }),
    '/velda.TaskService/Logs': following(deps, stopping, { request: LogTaskRequestSchema, run: logs }),
  };
}
