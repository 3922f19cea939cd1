import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import type { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { AgentUpdateRequest } from './gen/velda/broker_pb.ts';
import type { Stream } from './transport.ts';

/** How one agent is spoken to and understood. */
export interface Wire {
  /** The first answer, which tells the agent that it is in. */
  greet(): void;
  send(command: AgentCommand): void;
  /** Turns a message into reports. */
  hear(message: AgentUpdateRequest): void;
  /** What has been said and not yet taken by the connection. */
  readonly waitingBytes: number;
  close(): void;
}

/** What we say of ourselves. */
export interface ServerWords {
  readonly version: string;
  readonly cluster: string;
  /** How long an agent that is cut off goes on by itself. */
  readonly leaseMs: number;
}

export interface WireOptions {
  readonly stream: Pick<Stream, 'write'>;
  readonly server: ServerWords;
  readonly clock: Clock;
  readonly log: Log;
  report(report: AgentReport): void;
  /** This agent cannot be spoken to any more. */
  fail(fault: Fault): void;
}

/** How much may wait for an agent that reads slowly, before it is dismissed. */
export const WAITING_LIMIT_BYTES = 16 * 1024 * 1024;
