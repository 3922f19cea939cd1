import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import type { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { AgentUpdateRequest } from '#wire/gen/velda/broker_pb.ts';
import type { SharedAlarm } from '#wire/shared-alarm.ts';

/** The protocol of one connected agent. */
export interface Wire {
  /** Sends the first answer: the agent is admitted. */
  greet(): void;
  send(command: AgentCommand): void;
  /** Turns a message into reports; throws a `Fault` for an invalid one. */
  receive(message: AgentUpdateRequest): void;
  /** Bytes sent and not yet taken by the connection. */
  readonly waitingBytes: number;
  close(): void;
}

/** What agents learn of the server. */
export interface ServerFacts {
  readonly version: string;
  readonly cluster: string;
  /** How long a disconnected agent keeps its sessions running. */
  readonly agentLeaseMs: number;
}

export interface WireOptions {
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly log: Log;
  /** For messages that may wait a moment. */
  readonly later: SharedAlarm;
  /** `written` is called when the connection has taken the message; never after the call has closed. */
  write(message: Uint8Array, written: () => void): void;
  report(report: AgentReport): void;
  /** Commands cannot be sent to this agent any more. */
  fail(fault: Fault): void;
}

/** How much may wait for an agent that reads slowly, before it is disconnected. */
export const WAITING_LIMIT_BYTES = 16 * 1024 * 1024;
