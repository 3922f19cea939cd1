import type { AgentReport, Hello } from '#core/agent-link.ts';
import type { Actor } from '#core/journal.ts';
import type { OutputChunk, Session, SessionSpec } from '#core/session.ts';

export interface SessionRequest {
  /** The pool's name. */
  readonly pool: string;
  readonly spec: SessionSpec;
}

/** Accepts sessions, places them on slots, follows their lives and keeps their output. */
export interface Sessions {
  /** All or none; resolves when durable. The same key and caller get the same sessions again. */
  submit(requests: readonly SessionRequest[], actor: Actor, key?: string): Promise<readonly Session[]>;
  /** Queued: cancelled at once. Running: a polite signal, then after its grace a deadly one; `force` skips the first. */
  kill(id: string, force: boolean, actor: Actor): Promise<Session>;
  /** Live or ended. */
  find(id: string): Promise<Session | undefined>;
  /** Resolves with the ended session. */
  ended(id: string, signal: AbortSignal): Promise<Session>;
  /** All output in order; with `follow` until the session has ended. */
  output(
    id: string,
    options: { readonly follow: boolean; readonly afterSeq?: number },
    signal: AbortSignal,
  ): AsyncIterable<OutputChunk>;
  /** Bytes for its stdin or terminal. */
  input(id: string, data: Uint8Array, isLast: boolean): void;
  resize(id: string, columns: number, rows: number): void;
  /** An agent is in: settles what it runs against what we think it runs. */
  agentJoined(name: string, executions: Hello['executions']): void;
  /** An agent said something of a session. */
  report(agent: string, report: AgentReport): void;
  stop(): Promise<void>;
}
