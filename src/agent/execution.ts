import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { FetchContents } from './execution/session-contents.ts';
import type { Uplink } from './uplink.ts';

/** The grace of a session is its submitter's choice, and may be days: it does not keep a worker beyond its end. */
export const LONGEST_GRACE_AT_END_MS = 5 * MINUTE_MS;

/** What becomes of running sessions: they finish, are ended with their grace, or are killed now. */
export type DrainMode = 'finish' | 'end' | 'kill';

/** Runs sessions on this machine, keeps their results and unsent output until acknowledged. */
export interface Execution {
  /** Carries out one command of the server; reports come through the callback given at open. */
  handle(command: AgentCommand): void;
  /** All executions that run, or have ended without acknowledgement; sent in the first message. */
  executions(): { session: string; attempt: number }[];
  /** After a (re)connect: repeats every unacknowledged report in order (started, output after the last ack, ended). */
  replay(): void;
  /** Number of running sessions. */
  readonly running: number;
  /** Takes no new sessions; resolves when the last has ended. */
  drain(running: DrainMode): Promise<void>;
  /** Removes what is kept of ended sessions; called before the agent exits. */
  close(): void;
}

export type OpenExecution = (options: {
  workDir: string;
  slots: number;
  clock: Clock;
  log: Log;
  report: (report: AgentReport) => void;
  /** Where sessions with files get them from. */
  fetchContents?: FetchContents;
  /** Opens a call to the broker, for tunnels. */
  duplex?: Uplink['duplex'];
  /** Default environment of every session; see `baseEnvironment`. */
  env?: Readonly<Record<string, string>>;
}) => Promise<Execution>;
