import type { Problem } from './problem.ts';

interface FaultRule {
  /** How soon to retry: every kind is retried at some time, because rights and quotas are corrected elsewhere. */
  readonly retry: 'now' | 'backoff' | 'cooldown' | 'slow';
  readonly http: number;
  /** The exit code of the CLI. */
  readonly exit: number;
  /** The number of the gRPC status. */
  readonly grpc: number;
  readonly remedy: string;
}

/** Every failure, named by what the caller should do about it. */
export const FAULTS = {
  invalid: { retry: 'slow', http: 422, exit: 2, grpc: 3, remedy: 'Correct the request or the configuration.' },
  unauthenticated: { retry: 'slow', http: 401, exit: 3, grpc: 16, remedy: 'Send a valid token.' },
  denied: { retry: 'slow', http: 403, exit: 3, grpc: 7, remedy: 'Correct the credentials or their rights.' },
  missing: { retry: 'slow', http: 404, exit: 4, grpc: 5, remedy: 'Check the name.' },
  conflict: { retry: 'now', http: 409, exit: 5, grpc: 10, remedy: 'Read it again and retry.' },
  stale: {
    retry: 'now',
    http: 412,
    exit: 5,
    grpc: 9,
    remedy: 'It has changed since you read it: read it again and retry.',
  },
  exhausted: {
    retry: 'cooldown',
    http: 503,
    exit: 6,
    grpc: 8,
    remedy: 'The cloud has no capacity: wait, or add another backend.',
  },
  quota: { retry: 'cooldown', http: 507, exit: 7, grpc: 8, remedy: 'Raise the limit of the account or of the pool.' },
  throttled: { retry: 'backoff', http: 429, exit: 8, grpc: 8, remedy: 'Slow down.' },
  unavailable: { retry: 'backoff', http: 503, exit: 9, grpc: 14, remedy: 'Wait; the other side is down or slow.' },
  unsupported: { retry: 'slow', http: 501, exit: 10, grpc: 12, remedy: 'This kind cannot do that; choose another.' },
  internal: { retry: 'backoff', http: 500, exit: 70, grpc: 13, remedy: 'A bug: please report it with the log line.' },
} as const satisfies Record<string, FaultRule>;

export type FaultKind = keyof typeof FAULTS;

const UNCLEAR: ReadonlySet<FaultKind> = new Set<FaultKind>(['unavailable', 'internal', 'conflict', 'stale']);

/** Whether the other side may have carried out the call despite the failure; with any other kind it certainly has not. */
export const isUnclear = (kind: FaultKind): boolean => UNCLEAR.has(kind);

export interface FaultDetails {
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  /** Where the problem is: a path in a document, a line, a field. */
  readonly at?: string | undefined;
  /** What to do about it, if that is more specific than the kind's remedy. */
  readonly remedy?: string | undefined;
  /** All problems of a document. */
  readonly problems?: readonly Problem[] | undefined;
}

const WRITABLE = 'Let the user that this runs as write there, on a disk that is mounted for writing.';
const FREE_SPACE = 'Free disk space, then try again.';

/** What the system refuses is no bug of ours: these names of its errors say what to do. */
const OF_THE_SYSTEM: Readonly<Record<string, readonly [FaultKind, string]>> = {
  EACCES: ['denied', WRITABLE],
  EPERM: ['denied', WRITABLE],
  EROFS: ['denied', WRITABLE],
  ENOSPC: ['unavailable', FREE_SPACE],
  EDQUOT: ['unavailable', FREE_SPACE],
  EIO: ['unavailable', 'Check the disk; see the system log.'],
  EMFILE: ['unavailable', 'Raise the limit of open files for this user.'],
  ENFILE: ['unavailable', 'Raise the limit of open files of this machine.'],
};

/** A failure, named by what the caller should do about it. */
export class Fault extends Error {
  readonly kind: FaultKind;
  readonly retryAfterMs: number | undefined;
  readonly at: string | undefined;
  readonly problems: readonly Problem[] | undefined;
  readonly remedy: string;

  constructor(kind: FaultKind, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Fault';
    this.kind = kind;
    this.retryAfterMs = details.retryAfterMs;
    this.at = details.at;
    this.problems = details.problems;
    this.remedy = details.remedy ?? FAULTS[kind].remedy;
  }

  /** Any thrown value as a fault; anything that is not a Fault is a bug. */
  static from(thrown: unknown): Fault {
    if (thrown instanceof Fault) return thrown;
    const [kind, remedy] = OF_THE_SYSTEM[(thrown as { code?: string } | null)?.code ?? ''] ?? [];
    if (kind && thrown instanceof Error) return new Fault(kind, `${thrown.message}.`, { cause: thrown, remedy });
    if (thrown instanceof Error) return new Fault('internal', thrown.message, { cause: thrown });
    return new Fault('internal', String(thrown));
  }
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 60_000;

/** How long to wait before the next try after `attempts` failures in a row; `random` is in [0, 1). */
export function retryDelayMs(fault: Fault, attempts: number, random: number): number {
  if (fault.retryAfterMs !== undefined) return fault.retryAfterMs;
  const backoffMs = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(attempts - 1, 10));
  const jitteredMs = backoffMs * (0.75 + random / 2);
  switch (FAULTS[fault.kind].retry) {
    case 'now':
      return attempts < 3 ? 0 : jitteredMs;
    case 'backoff':
      return jitteredMs;
    case 'cooldown':
    case 'slow':
      return LONGEST_BACKOFF_MS * (0.75 + random / 2);
  }
}
