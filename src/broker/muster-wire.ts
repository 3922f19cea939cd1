import type { AgentCommand } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import { encodeCommand } from '#wire/commands.ts';
import { type AgentUpdateRequest, AgentUpdateResponseSchema } from '#wire/gen/velda/broker_pb.ts';
import { encode, LONGEST_MESSAGE_BYTES, messageOf } from '#wire/messages.ts';
import { createOutbox, type Outbox } from '#wire/outbox.ts';
import { readReports } from '#wire/reports.ts';
import { WAITING_LIMIT_BYTES, type Wire, type WireOptions } from './agent-wire.ts';

const BATCH_BYTES = 512 * 1024;
const INPUT_BYTES = 256 * 1024;
const HEADROOM_BYTES = 1_024;
const COMMANDS = AgentUpdateResponseSchema.field.commands.number;

/** Splits input that is larger than one message may be. */
function* pieces(command: Extract<AgentCommand, { do: 'input' }>): Iterable<AgentCommand> {
  for (let at = 0; at < command.data.length; at += INPUT_BYTES) {
    const isEnd = at + INPUT_BYTES >= command.data.length;
    yield { ...command, data: command.data.subarray(at, at + INPUT_BYTES), isLast: isEnd && command.isLast };
  }
}

/** A class, since there is one for each agent: closures would take several times its memory. */
class MusterWire implements Wire {
  readonly #options: WireOptions;
  readonly #outbox: Outbox;
  readonly #canRunAs: boolean;

  constructor(options: WireOptions, canRunAs: boolean) {
    this.#options = options;
    this.#canRunAs = canRunAs;
    this.#outbox = createOutbox({
      // Before callers get their answers, which take longer: an agent that has its session can start.
      soon: queueMicrotask,
      later: options.later,
      batchBytes: BATCH_BYTES,
      limitBytes: WAITING_LIMIT_BYTES,
      send: (batch, sent) => options.write(messageOf(COMMANDS, batch), sent),
      overflowed: () => options.fail(new Fault('throttled', 'The agent does not read its messages.')),
    });
  }

  get waitingBytes(): number {
    return this.#outbox.waitingBytes;
  }

  greet(): void {
    const { server, clock } = this.#options;
    const musterServer = {
      cluster: server.cluster,
      leaseMs: BigInt(Math.round(server.agentLeaseMs)),
      timeMs: BigInt(Math.round(clock.now())),
    };
    this.#options.write(
      encode(AgentUpdateResponseSchema, { serverInfo: { version: server.version }, musterServer }),
      () => {},
    );
  }

  send(command: AgentCommand): void {
    if (command.do === 'start' && command.spec.runAs && !this.#canRunAs) {
      return this.#refuse(command, 'The agent of this worker cannot run a session as another user: update it.', 'here');
    }
    if (command.do !== 'input' || command.data.length <= INPUT_BYTES) this.#push(command);
    else for (const piece of pieces(command)) this.#push(piece);
  }

  receive({ reports }: AgentUpdateRequest): void {
    for (const report of readReports(reports)) {
      if (report) this.#options.report(report);
      else this.#options.log('warn', 'agent sent a report of an unknown kind', {});
    }
  }

  close(): void {
    this.#outbox.close();
  }

  #push(command: AgentCommand): void {
    const bytes = encodeCommand(command);
    if (bytes.length > LONGEST_MESSAGE_BYTES - HEADROOM_BYTES) this.#tooLong(command, bytes.length);
    // An agent gets no more sessions than it has slots. If they counted and it were disconnected, it would get them all again.
    else if (command.do === 'start') this.#outbox.pushUncounted(bytes);
    // The agent only keeps the result a moment longer; mostly the next session for its slot is on its way.
    else if (command.do === 'ack' && command.result) this.#outbox.pushLater(bytes);
    else this.#outbox.push(bytes);
  }

  #tooLong(command: AgentCommand, bytes: number): void {
    this.#options.log('warn', 'command exceeds the message limit', { do: command.do, bytes });
    if (command.do !== 'start') return;
    this.#refuse(
      command,
      `The request has ${bytes} bytes; at most ${LONGEST_MESSAGE_BYTES} can be sent to an agent.`,
      'anywhere',
    );
  }

  #refuse(
    { session, attempt }: Extract<AgentCommand, { do: 'start' }>,
    why: string,
    forGood: 'here' | 'anywhere',
  ): void {
    // Not at once: the sender is in the middle of its own work.
    this.#options.clock.soon(() => this.#options.report({ is: 'refused', session, attempt, why, forGood }));
  }
}

/** The wire of Muster agents: commands and reports in batches. */
export function openMusterWire(options: WireOptions, canRunAs: boolean): Wire {
  return new MusterWire(options, canRunAs);
}
