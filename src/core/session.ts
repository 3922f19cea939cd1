import type { SessionFiles } from './file.ts';
import { pieces, type Row, records, table } from './table.ts';

/** An account of the worker: by its name, or by numbers. */
export type RunAs =
  | { readonly user: string }
  | { readonly uid: number; readonly gid: number; readonly groups: readonly number[] };

/** The command of a session and its settings. */
export interface SessionSpec {
  /** Program and arguments; run as they stand, without a shell. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Without files an absolute path; with files also one inside their folder, which is the default. */
  readonly cwd?: string | undefined;
  /** The folder that each attempt begins in: these files, as they were uploaded. */
  readonly files?: SessionFiles | undefined;
  /** The account it runs under; by default that of its agent. */
  readonly runAs?: RunAs | undefined;
  /** With a terminal: stdin is open, and output is one stream. */
  readonly terminal?: { readonly columns: number; readonly rows: number; readonly type: string } | undefined;
  /** Whether stdin is open; otherwise it is empty. */
  readonly stdin: boolean;
  /** Lower goes first. */
  readonly priority: number;
  /** Only agents that offer all of these are asked. */
  readonly labels: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** How often it may start again after its machine was lost. */
  readonly retries: number;
}

export const SESSION_ENDS = ['exited', 'signalled', 'killed', 'timeout', 'lost', 'refused', 'cancelled'] as const;

/** The place of a session among those that were started together, from 0. */
export interface SessionPart {
  readonly index: number;
  readonly count: number;
}

/** No digit and no `@` in front: a name is neither an id nor `@last`. */
export const SESSION_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;

/** What a session is called: its name, and its number where it has one; undefined without a name. */
export const calledName = ({ name, part }: Pick<Session, 'name' | 'part'>): string | undefined =>
  name === undefined || part === undefined ? name : `${name}/${part.index}`;

/** The one final state of a session. */
export interface SessionEnd {
  readonly at: number;
  readonly how: (typeof SESSION_ENDS)[number];
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly message?: string | undefined;
}

export interface Session extends Row {
  /** Ordered by the time of acceptance: first in, first out within a priority. */
  readonly id: string;
  /** The id of what it belongs to: a pool, or a computer. */
  readonly pool: string;
  /** The name of that. */
  readonly poolName: string;
  /** It belongs to a computer; absent: to a pool. */
  readonly use?: 'computer' | undefined;
  readonly spec: SessionSpec;
  readonly acceptedAt: number;
  readonly by: string;
  /** What its caller calls it. Unended sessions share a name only if they were started together. */
  readonly name?: string | undefined;
  /** Its place among the sessions that were started together. */
  readonly part?: SessionPart | undefined;
  /** The caller's idempotency key and this session's place in that request. */
  readonly key?: string | undefined;
  /** Hash of the request that came with the key: the same key with another request is refused. */
  readonly requestHash?: string | undefined;
  /** Counts placements, 0 before the first; reports about an earlier attempt are void. */
  readonly attempt: number;
  /** How often it was lost after it may have started: what `retries` bounds. */
  readonly losses?: number | undefined;
  /** Agents that refused to start it, one entry for each refusal; others are tried first. */
  readonly refusedBy?: readonly string[] | undefined;
  /** While queued: labels that no worker of its pool can have. It then does not count as demand. */
  readonly unmatched?: string | undefined;
  readonly worker?: string | undefined;
  readonly placedAt?: number | undefined;
  readonly startedAt?: number | undefined;
  readonly kill?:
    | {
        readonly at: number;
        readonly by: string;
        readonly force: boolean;
        /** Killed by its own time limit, not by a caller. */
        readonly isTimeout?: boolean | undefined;
      }
    | undefined;
  /** What is kept of its output: a mark set now and then while it runs, exact once its agent has reported its end. */
  readonly output?: OutputPosition | undefined;
  readonly end?: SessionEnd | undefined;
}

export const SESSION_PHASES = ['queued', 'starting', 'running', 'unknown', 'ended'] as const;
export type SessionPhase = (typeof SESSION_PHASES)[number];

/** `unknown`: its agent is away; it may still be running there, so no second copy is started. */
export function sessionPhase(session: Session, isAgentConnected: boolean): SessionPhase {
  if (session.end) return 'ended';
  if (session.worker === undefined) return 'queued';
  if (!isAgentConnected) return 'unknown';
  return session.startedAt === undefined ? 'starting' : 'running';
}

/** What a shell would return for it. */
export function exitCodeOf(end: SessionEnd): number {
  if (end.exitCode !== undefined) return end.exitCode;
  if (end.how === 'timeout') return 124;
  return end.how === 'killed' || end.how === 'cancelled' || end.how === 'signalled' ? 137 : 1;
}

/** How far the output of a session was kept. */
export interface OutputPosition {
  /** Of all attempts. */
  readonly bytes: number;
  /** The last number kept of the current attempt. */
  readonly seq: number;
  /** There was more than is kept for one session. */
  readonly isCut: boolean;
}

/** A piece of output; a sequence number is never used twice within an attempt. */
export interface OutputChunk {
  readonly session: string;
  readonly attempt: number;
  readonly seq: number;
  readonly stream: 'stdout' | 'stderr';
  readonly at: number;
  readonly data: Uint8Array;
}

export const sessionTables = {
  sessions: table<Session>()({
    writer: 'sessions',
    indexes: {
      pool: (s) => s.pool,
      worker: (s) => s.worker,
      key: (s) => s.key,
      name: (s) => s.name,
      queue: (s) => (s.worker === undefined ? s.pool : undefined),
      unmatched: (s) => (s.worker === undefined && s.unmatched !== undefined ? s.pool : undefined),
    },
  }),
} as const;

export const sessionHistories = {
  ended: records<Session>()({
    finds: { key: (s) => s.key, name: (s) => s.name, pool: (s) => s.pool },
    at: (s) => s.end?.at ?? s.acceptedAt,
    kept: { setting: 'sessions', default: '30d', about: 'Retention time of ended sessions.' },
  }),
  output: pieces<OutputChunk>()({
    of: 'session',
    numbers: ['attempt'],
    texts: ['stream'],
    kept: { setting: 'output', default: '7d', about: 'Retention time of the output of ended sessions.' },
  }),
} as const;
