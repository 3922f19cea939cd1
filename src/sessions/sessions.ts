import type { AgentReport, Hello } from '#core/agent-link.ts';
import type { Actor } from '#core/journal.ts';
import type { OutputChunk, Session, SessionSpec } from '#core/session.ts';

export interface SessionRequest {
  /** The pool's name. */
  readonly pool: string;
  readonly spec: SessionSpec;
}

export interface OutputOptions {
  readonly follow: boolean;
  /** Where a reader goes on: after this number of that attempt (of the first one, where none is named). */
  readonly afterSeq?: number | undefined;
  readonly attempt?: number | undefined;
}

/**
 * Accepts sessions, places them on slots, follows their lives and keeps their output.
 * A paused pool accepts, but places nothing. A frozen one goes on placing on agents that are there, but neither requeues
 * nor fails what is lost. In one that is being removed those that wait are cancelled.
 */
export interface Sessions {
  /** All or none; resolves when durable. The same key and caller get the same sessions again. */
  submit(requests: readonly SessionRequest[], actor: Actor, key?: string): Promise<readonly Session[]>;
  /** Queued: cancelled at once. Running: a polite signal, then after its grace a deadly one; `force` skips the first. */
  kill(id: string, force: boolean, actor: Actor): Promise<Session>;
  /** Live or ended. */
  find(id: string): Promise<Session | undefined>;
  /** Resolves with the ended session. */
  ended(id: string, signal: AbortSignal): Promise<Session>;
  /** All durable output in order, attempt by attempt; with `follow` until the session has ended. */
  output(id: string, options: OutputOptions, signal: AbortSignal): AsyncIterable<OutputChunk>;
  /** Bytes for its stdin or terminal; a `Fault` where it has none, or is not running. */
  input(id: string, data: Uint8Array, isLast: boolean): void;
  /** How much input is still on its way to the agent of that session; with a lot, the sender should wait. */
  inputWaitingBytes(id: string): number;
  resize(id: string, columns: number, rows: number): void;
  /** An agent is in: settles what it runs against what we think it runs. */
  agentJoined(name: string, executions: Hello['executions']): void;
  /** An agent said something of a session. */
  report(agent: string, report: AgentReport): void;
  stop(): Promise<void>;
}
