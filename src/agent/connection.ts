import { fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import {
  AgentUpdateRequestSchema,
  type AgentUpdateResponse,
  AgentUpdateResponseSchema,
} from '#wire/gen/velda/broker_pb.ts';
import { encode } from '#wire/messages.ts';
import type { Ending } from './backoff.ts';
import type { DuplexCall, Line } from './dial.ts';
import { openMusterPeer } from './muster-peer.ts';
import type { Peer } from './peer.ts';
import { openVeldaPeer, type VeldaTask } from './velda-peer.ts';

const HEARTBEAT_MS = 30_000;

/** What the broker reports about itself when it admits us; undefined if it is not a Muster broker. */
export interface Welcome {
  readonly cluster: string;
  readonly leaseMs: number;
}

export interface ConnectionOptions {
  readonly line: Line;
  /** Time for connecting, the TLS handshake, and making the join durable on the server. */
  readonly firstAnswerMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly hello: MessageInitShape<typeof AgentUpdateRequestSchema>;
  readonly tasks: Map<string, VeldaTask>;
  readonly clock: Clock;
  readonly log: Log;
  /** The broker has admitted the agent. */
  accepted(welcome: Welcome | undefined): void;
  obey(command: AgentCommand): void;
  /** Called once, as the last event. */
  ended(ending: Ending): void;
}

/** One stream to the broker, from the first message to its end. */
export interface Connection {
  /** Dropped before the broker has accepted us: the caller reports again then. */
  report(report: AgentReport): void;
  /** Closes our side; the broker then ends the stream. */
  leave(): void;
  cancel(): void;
  /** Another call to the same broker. */
  fetch(path: string, request: Uint8Array): AsyncIterable<Uint8Array>;
  duplex(path: string, headers: Readonly<Record<string, string>>): DuplexCall;
}

export function openConnection(options: ConnectionOptions): Connection {
  const { line, clock, log, obey, firstAnswerMs } = options;
  let peer: Peer | undefined;
  let hasWritten = false;
  let isTooLate = false;
  let cancelAlarm = (): void => {};

  function meet(answer: AgentUpdateResponse): Peer {
    const { musterServer: server } = answer;
    cancelAlarm();
    cancelAlarm = clock.alarm(HEARTBEAT_MS, beat);
    peer = server
      ? openMusterPeer({ stream: noted, clock, log, obey })
      : openVeldaPeer({ stream: noted, line, log, tasks: options.tasks, obey });
    log('info', 'joined', { server: answer.serverInfo?.version, cluster: server?.cluster });
    options.accepted(server && { cluster: server.cluster, leaseMs: Number(server.leaseMs) });
    return peer;
  }

  function beat(): void {
    // An empty message as heartbeat: it shows that the agent is alive and detects a dead broker.
    if (!hasWritten) stream.write(new Uint8Array(), () => {});
    hasWritten = false;
    cancelAlarm = clock.alarm(HEARTBEAT_MS, beat);
  }

  const stream = line.open('/velda.BrokerService/AgentUpdate', options.headers, {
    message(bytes) {
      try {
        const answer = fromBinary(AgentUpdateResponseSchema, bytes);
        (peer ?? meet(answer)).hear(answer);
      } catch (thrown) {
        log('error', 'invalid message from broker', { error: Fault.from(thrown).message });
        stream.cancel();
      }
    },
    ended(ending) {
      cancelAlarm();
      peer?.close();
      line.close();
      options.ended(isTooLate ? { code: 4, details: `No answer within ${firstAnswerMs / 1_000} s.` } : ending);
    },
  });
  // After the call is open: a call that cannot be opened needs no cleanup.
  cancelAlarm = clock.alarm(firstAnswerMs, () => {
    isTooLate = true;
    stream.cancel();
  });
  const noted: Pick<typeof stream, 'write'> = {
    write(message, written) {
      hasWritten = true;
      stream.write(message, written);
    },
  };
  stream.write(encode(AgentUpdateRequestSchema, options.hello), () => {});
  return {
    report: (report) => peer?.report(report),
    leave: () => stream.halfClose(),
    cancel: () => stream.cancel(),
    fetch: (path, request) => line.fetch(path, options.headers, request),
    duplex: (path, headers) => line.duplex(path, { ...options.headers, ...headers }),
  };
}
