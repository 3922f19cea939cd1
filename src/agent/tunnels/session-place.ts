import type { Account } from '#host/account.ts';

/** Where a session runs on this machine, or has run. */
export interface SessionPlace {
  /** The directory that its command starts in. */
  readonly cwd: string;
  /** Set where it runs as another user than the agent. */
  readonly account?: Account | undefined;
  readonly session: string;
  /** Its living processes. */
  pids(): readonly number[];
}
