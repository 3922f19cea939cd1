// Output of sessions on Velda agents: the process that runs a session there pushes it by a call of its own, without credentials.
import type { AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/store.ts';
import { tame } from '#wire/foreign-text.ts';
import { LogTaskResponse_Stream, type PushLogsRequest, PushLogsRequestSchema } from '#wire/gen/velda/task_pb.ts';
import { decode } from '#wire/messages.ts';
import type { Agents } from './agents.ts';
import type { RequestStream, RequestStreamMethod, RpcCaller } from './method.ts';
import type { UnprovenCalls } from './unproven-calls.ts';

// Output that is in flight when the end is reported arrives within this time, or is lost.
const LATE_OUTPUT_MS = 5_000;
const PIECE_BYTES = 64 * 1024;
// Velda's sandbox opens its call when the process starts, and names the session in a header; others name it at once.
const NAMED_WITHIN_MS = 10_000;
// The sandbox has one; those of lost connections stay until the next ping.
const MOST_CALLS_PER_SESSION = 4;
const REMEDY = 'Push output from the machine that runs the session, while it runs.';
// A Velda agent does not number its output, and our numbers end with the process: each holder has a range of its own
// above that of the one before, with a number for each byte that is kept of a session.
const NUMBERS_PER_HOLDER = 2 ** 26;

export interface VeldaOutputOptions {
  readonly view: Pick<Store['view'], 'sessions' | 'agents'>;
  readonly agents: Pick<Agents, 'get' | 'all'>;
  readonly unproven: UnprovenCalls;
  readonly clock: Clock;
  /** Number of the replica's holdership; grows with each change of holder. */
  readonly holderEpoch: number;
  report(agent: string, report: AgentReport): void;
}

export interface VeldaOutput {
  readonly pushLogs: RequestStreamMethod;
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

export function createVeldaOutput(options: VeldaOutputOptions): VeldaOutput {
  const { view, agents, unproven, clock, holderEpoch, report } = options;
  const attempts = new Map<string, AttemptOutput>();
  const open = new Set<(fault: Fault) => void>();
  const firstSeq = (holderEpoch - 1) * NUMBERS_PER_HOLDER;

  /** Accepts output only from the machine that runs the session, and only for Velda agents. */
  function admit(task: string, caller: RpcCaller): AttemptOutput {
    const session = view.sessions.get(task);
    const agent = session?.worker === undefined ? undefined : view.agents.get(session.worker);
    const isThere = agent?.wire === 'velda' && agents.get(agent.id)?.peerAddress === caller.peerAddress;
    if (!session || !agent || !isThere) {
      const why = `This caller may not push output of session "${tame(task, 100)}".`;
      throw new Fault('denied', why, { remedy: REMEDY });
    }
    const known = attempts.get(task);
    if (known?.attempt === session.attempt) return known;
    const output = { agent: agent.id, session: task, attempt: session.attempt, seq: firstSeq, openCalls: 0 };
    attempts.set(task, output);
    return output;
  }

  function checkIsBesideAgent({ peerAddress }: RpcCaller): void {
    for (const agent of agents.all()) if (agent.peerAddress === peerAddress) return;
    throw new Fault('denied', `No agent is connected from ${peerAddress}.`, { remedy: REMEDY });
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

  /** The output that a call names, which counts as open from then on. */
  function name(task: string, caller: RpcCaller): AttemptOutput {
    const named = admit(task, caller);
    if (named.openCalls === MOST_CALLS_PER_SESSION) {
      const why = `Session "${task}" has ${MOST_CALLS_PER_SESSION} open calls for its output already.`;
      throw new Fault('throttled', why, { remedy: 'Push all of its output by one call.' });
    }
    named.openCalls += 1;
    caller.proved();
    return named;
  }

  function takeAll(call: RequestStream, caller: RpcCaller, first: AttemptOutput | undefined, proven: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    let output = first;
    const why = `The call named no session within ${NAMED_WITHIN_MS / 1_000} s.`;
    const tooLate = (): void => reject(new Fault('invalid', why, { at: 'task_id' }));
    const cancel = output ? undefined : clock.alarm(NAMED_WITHIN_MS, tooLate);

    function take(bytes: Uint8Array): void {
      const request = decode(PushLogsRequestSchema, bytes);
      if (!output) {
        output = name(request.taskId, caller);
        cancel?.();
        proven();
      }
      if (request.taskId !== output.session)
        throw new Fault('invalid', 'The task_id differs from that of the call.', { at: 'task_id' });
      push(output, request);
    }

    open.add(reject);
    call.on('data', (bytes: Buffer) => {
      if (!open.has(reject)) return;
      try {
        take(bytes);
      } catch (thrown) {
        open.delete(reject);
        reject(thrown);
      }
    });
    call.once('end', () => resolve(new Uint8Array()));
    call.once('close', () => {
      open.delete(reject);
      cancel?.();
      proven();
      if (!output) return;
      output.openCalls -= 1;
      if (output.openCalls === 0) output.ended?.();
    });
    return promise;
  }

  const pushLogs: RequestStreamMethod = {
    type: 'clientStream',
    admit(caller) {
      const [, , claimed] = (caller.header('velda-session') ?? '').split(':');
      if (claimed !== undefined) {
        const output = name(claimed, caller);
        return (call) => takeAll(call, caller, output, () => {});
      }
      checkIsBesideAgent(caller);
      const proven = unproven.enter(caller.peerAddress);
      return (call) => takeAll(call, caller, undefined, proven);
    },
  };

  return {
    pushLogs,
    async lastSeq(session, hurry) {
      const output = attempts.get(session);
      if (!output) return 0;
      if (output.openCalls > 0 && !hurry?.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const goOn = (): void => resolve();
        const cancel = clock.alarm(LATE_OUTPUT_MS, goOn);
        hurry?.addEventListener('abort', goOn);
        output.ended = goOn;
        await promise;
        hurry?.removeEventListener('abort', goOn);
        cancel();
      }
      attempts.delete(session);
      return output.seq;
    },
    sweep() {
      for (const session of attempts.keys()) if (!view.sessions.get(session)) attempts.delete(session);
    },
    stop() {
      for (const fail of open) fail(new Fault('unavailable', 'The server is stopping.'));
    },
  };
}
