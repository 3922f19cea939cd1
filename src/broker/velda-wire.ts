import { constants } from 'node:os';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AgentCommand, AgentReport, Hello } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { RunAs } from '#core/session.ts';
import { checkedName } from '#wire/foreign-text.ts';
import { AgentUpdateResponseSchema } from '#wire/gen/velda/broker_pb.ts';
import type { SessionCompletion } from '#wire/gen/velda/session_pb.ts';
import { encode } from '#wire/messages.ts';
import { createOutbox } from '#wire/outbox.ts';
import { WAITING_LIMIT_BYTES, type Wire, type WireOptions } from './agent-wire.ts';
import { ATTEMPT_TAG } from './hello.ts';
import { openSlotRest } from './slot-rest.ts';

type Start = Extract<AgentCommand, { do: 'start' }>;
type Answer = MessageInitShape<typeof AgentUpdateResponseSchema>;
type End = Pick<Extract<AgentReport, { is: 'ended' }>, 'how' | 'exitCode' | 'signal' | 'message'>;

// Every session of a Velda agent is in one instance: on a mounted disk its number names the root directory.
export const INSTANCE = 1n;
const LONGEST_ID = 128;
const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

export interface VeldaWireOptions extends WireOptions {
  readonly executions: Hello['executions'];
  readonly slots: number;
  attemptNow(session: string): number | undefined;
  /** The number of the last piece of output, once no more can come, or at once when `hurry` aborts. */
  lastSeq(session: string, hurry: AbortSignal): Promise<number>;
}

const accountOf = (runAs: RunAs) =>
  'user' in runAs ? { loginUser: runAs.user } : { uid: runAs.uid, gid: runAs.gid, groups: [...runAs.groups] };

function requestOf({ session, attempt, spec }: Start): Answer {
  const [command = '', ...args] = spec.command;
  return {
    sessionRequest: {
      sessionId: session,
      instanceId: INSTANCE,
      taskId: session,
      priority: BigInt(Math.trunc(spec.priority)),
      tags: { [ATTEMPT_TAG]: String(attempt) },
      workload: {
        command,
        args,
        workingDir: spec.cwd ?? '',
        ...(spec.runAs && accountOf(spec.runAs)),
        environs: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
      },
    },
  };
}

function endOf({ batchTaskResult: result, checkpointed }: SessionCompletion, wasKilled: boolean): End {
  if (result?.exitCode !== undefined) return { how: 'exited', exitCode: result.exitCode };
  if (wasKilled) return { how: 'killed' };
  if (result && result.terminatedSignal !== 0) {
    const { terminatedSignal: number } = result;
    return { how: 'signalled', exitCode: 128 + number, signal: SIGNALS.get(number) ?? `SIG${number}` };
  }
  if (checkpointed) return { how: 'exited', exitCode: 100, message: 'The session was checkpointed.' };
  // So does an agent that is stopped: it kills its sessions first.
  return { how: 'lost', message: 'The agent ended the session without a result; it may have been stopped.' };
}

/** The wire of Velda agents: one session or kill in a message, output by another call. */
export function openVeldaWire(options: VeldaWireOptions): Wire {
  const { clock } = options;
  const attempts = new Map(options.executions.map(({ session, attempt }) => [session, attempt]));
  const killed = new Set<string>();
  // A Velda agent reports an end once: it must be taken before the agent reconnects without that session.
  const over = new AbortController();
  const outbox = createOutbox({
    soon: queueMicrotask,
    batchBytes: 0,
    limitBytes: WAITING_LIMIT_BYTES,
    send: ([message], sent) => options.write(message as Uint8Array, sent),
    overflowed: () => options.fail(new Fault('throttled', 'The agent does not read its messages.')),
  });

  const rest = openSlotRest({ slots: options.slots, clock, running: () => attempts.size });

  function write(answer: Answer): void {
    outbox.push(encode(AgentUpdateResponseSchema, answer));
  }

  function start(command: Start): void {
    const { session, attempt, spec } = command;
    if (!spec.terminal && !spec.stdin) {
      return rest.start(session, () => {
        attempts.set(session, attempt);
        write(requestOf(command));
      });
    }
    const why =
      'This agent speaks only the Velda protocol, which has neither input nor a terminal. Choose another pool.';
    clock.soon(() => options.report({ is: 'refused', session, attempt, why, forGood: 'here' }));
  }

  const attemptOf = (session: string): number => attempts.get(session) ?? options.attemptNow(session) ?? 1;

  async function completed(completion: SessionCompletion): Promise<void> {
    const session = checkedName(completion.sessionId, LONGEST_ID, 'session_completion.session_id');
    const attempt = attemptOf(session);
    const end = endOf(completion, killed.delete(session));
    attempts.delete(session);
    rest.ended();
    const lastSeq = await options.lastSeq(session, over.signal);
    options.report({ is: 'ended', session, attempt, lastSeq, ...end });
  }

  function kill(session: string): void {
    if (rest.cancel(session)) {
      const attempt = attemptOf(session);
      return clock.soon(() => options.report({ is: 'ended', session, attempt, lastSeq: 0, how: 'killed' }));
    }
    killed.add(session);
    // A soft kill does not reach the workload of a batch session.
    write({ killSessionRequest: { instanceId: INSTANCE, sessionId: session, force: true } });
  }

  return {
    greet: () => write({ serverInfo: { version: options.server.version } }),
    send(command) {
      if (command.do === 'start') start(command);
      if (command.do === 'kill') kill(command.session);
    },
    receive({ sessionInitResponse: init, sessionCompletion: completion }) {
      if (init) {
        const session = checkedName(init.sessionId, LONGEST_ID, 'session_init_response.session_id');
        const attempt = attemptOf(session);
        const why = 'The agent could not start the session. See the log of the agent.';
        if (!init.success) attempts.delete(session);
        options.report(init.success ? { is: 'started', session, attempt } : { is: 'refused', session, attempt, why });
      }
      if (completion) completed(completion).catch((thrown) => options.fail(Fault.from(thrown)));
    },
    get waitingBytes() {
      return outbox.waitingBytes;
    },
    close() {
      over.abort();
      rest.close();
      outbox.close();
    },
  };
}
