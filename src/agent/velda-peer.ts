// Protocol of a Velda broker, which ignores Muster's fields: it starts one session per message, gets output by a call of its
// own, and acknowledges nothing.
import { constants } from 'node:os';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import type { Log } from '#core/log.ts';
import type { SessionSpec } from '#core/session.ts';
import { AgentUpdateRequestSchema } from '#wire/gen/velda/broker_pb.ts';
import type { SessionRequest, Workload } from '#wire/gen/velda/session_pb.ts';
import { LogTaskResponse_Stream, PushLogsRequestSchema } from '#wire/gen/velda/task_pb.ts';
import { encode } from '#wire/messages.ts';
import type { ClientStream, Line } from './dial.ts';
import type { Peer } from './peer.ts';

type Message = MessageInitShape<typeof AgentUpdateRequestSchema>;
type Ended = Extract<AgentReport, { is: 'ended' }>;
type Output = Extract<AgentReport, { is: 'output' }>;

// Such a broker counts no attempts: a session that starts again has another id.
const ATTEMPT = 1;
const GRACE_MS = 10_000;

/** A session that such a broker started: kept over reconnects, because the broker expects it in the first message. */
export interface VeldaTask {
  readonly request: SessionRequest;
  isStarted: boolean;
}

export interface VeldaPeerOptions {
  readonly stream: Pick<ClientStream, 'write'>;
  readonly line: Pick<Line, 'open'>;
  readonly log: Log;
  /** By session. */
  readonly tasks: Map<string, VeldaTask>;
  obey(command: AgentCommand): void;
}

/** Velda's broker always sends an account; all zeros also means that the request named no user. */
function runAsOf({ loginUser, uid, gid, groups }: Workload): Pick<SessionSpec, 'runAs'> {
  if (loginUser !== '') return { runAs: { user: loginUser } };
  return uid === 0 && gid === 0 && groups.length === 0 ? {} : { runAs: { uid, gid, groups } };
}

function startOf(session: string, workload: Workload, priority: bigint): AgentCommand {
  const env = workload.environs.map((entry) => {
    const at = entry.indexOf('=');
    return at < 0 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)];
  });
  const spec = {
    command: [workload.command || workload.commandPath, ...workload.args],
    env: Object.fromEntries(env) as Record<string, string>,
    ...(workload.workingDir !== '' && { cwd: workload.workingDir }),
    ...runAsOf(workload),
    stdin: workload.stdin.length > 0,
    priority: Number(priority),
    labels: {},
    graceMs: GRACE_MS,
    retries: 0,
  };
  return { do: 'start', session, attempt: ATTEMPT, spec };
}

function resultOf({ how, exitCode, signal }: Ended): { exitCode?: number; terminatedSignal?: number } {
  if (how === 'exited' && exitCode !== undefined) return { exitCode };
  const number = signal === undefined ? undefined : constants.signals[signal as NodeJS.Signals];
  return number === undefined ? {} : { terminatedSignal: number };
}

export function openVeldaPeer({ stream, line, log, tasks, obey }: VeldaPeerOptions): Peer {
  const logs = new Map<string, ClientStream>();

  function say(message: Message, written = (): void => {}): void {
    stream.write(encode(AgentUpdateRequestSchema, message), written);
  }

  const refOf = (session: string) => ({ sessionId: session, instanceId: tasks.get(session)?.request.instanceId ?? 0n });

  function ack(session: string, seq: number, result: boolean): void {
    obey({ do: 'ack', session, attempt: ATTEMPT, seq, result });
  }

  function begin(request: SessionRequest): void {
    const { sessionId: session, workload, priority } = request;
    tasks.set(session, { request, isStarted: false });
    if (!workload) {
      log('warn', 'session over SSH refused', { session });
      return refuse(session);
    }
    obey(startOf(session, workload, priority));
    if (workload.stdin.length > 0) obey({ do: 'input', session, data: new Uint8Array(workload.stdin), isLast: true });
  }

  function refuse(session: string): void {
    say({ sessionInitResponse: refOf(session) });
    tasks.delete(session);
  }

  function started(session: string): void {
    const task = tasks.get(session);
    if (!task || task.isStarted) return;
    task.isStarted = true;
    say({ sessionInitResponse: { ...refOf(session), success: true } });
  }

  function openLogs(session: string): ClientStream {
    const request = tasks.get(session)?.request;
    const task = request?.taskId || session;
    const headers = { 'velda-session': `${request?.instanceId ?? 0n}:${session}:${task}` };
    return line.open('/velda.TaskLogService/PushLogs', headers, {
      message: () => {},
      ended({ code, details }) {
        logs.delete(session);
        if (code !== 0) log('warn', 'broker refused output', { session, code, error: details });
      },
    });
  }

  function push({ session, seq, stream: name, data }: Output): void {
    const call = logs.get(session) ?? openLogs(session);
    logs.set(session, call);
    const taskId = tasks.get(session)?.request.taskId || session;
    const which = name === 'stdout' ? LogTaskResponse_Stream.STDOUT : LogTaskResponse_Stream.STDERR;
    const piece = encode(PushLogsRequestSchema, { taskId, stream: which, data: new Uint8Array(data) });
    call.write(piece, () => ack(session, seq, false));
  }

  function end(report: Ended): void {
    const { session, lastSeq } = report;
    logs.get(session)?.halfClose();
    logs.delete(session);
    say({ sessionCompletion: { ...refOf(session), batchTaskResult: resultOf(report) } }, () => {
      tasks.delete(session);
      ack(session, lastSeq, true);
    });
  }

  return {
    report(report) {
      if (report.is === 'started') started(report.session);
      if (report.is === 'refused') refuse(report.session);
      if (report.is === 'output') push(report);
      if (report.is === 'ended') end(report);
    },
    hear({ sessionRequest, killSessionRequest: kill }) {
      if (sessionRequest) begin(sessionRequest);
      if (kill) obey({ do: 'kill', session: kill.sessionId, force: kill.force, graceMs: GRACE_MS });
    },
    close() {
      for (const call of logs.values()) call.cancel();
    },
  };
}
