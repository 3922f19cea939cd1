// What an AgentPool shows of its pool: counts, the last decision, and conditions that tools wait for.
import type { DocumentReport } from '#core/source.ts';
import type { KubeObject } from '#kube/object.ts';

export const CONDITIONS = ['Ready', 'Synced', 'ScalingLimited', 'BackendHealthy', 'Stalled'] as const;

export interface Condition {
  readonly type: (typeof CONDITIONS)[number];
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

interface Decided {
  readonly did: string;
  readonly why: string;
  readonly at: string;
}

export interface AgentPoolStatus {
  readonly observedGeneration: number;
  readonly phase: DocumentReport['phase'];
  /** Agents that are connected. */
  readonly ready: number;
  readonly idle: number;
  readonly busy: number;
  /** Sessions that wait for a slot. */
  readonly queued: number;
  /** Agents that the pool has or waits for. */
  readonly desired: number;
  readonly lastDecision?: Decided | undefined;
  readonly conditions: readonly Condition[];
}

type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** The generation that a report is about, out of the version of its document. */
const generationOf = (version: string): number => Number(/\.(\d+)/.exec(version)?.[1] ?? 0);

/** The status to write; conditions keep the time since when they are as they are. */
export function statusOf(report: DocumentReport, before: KubeObject['status'], nowMs: number): AgentPoolStatus {
  const { counts, decision } = report;
  const observedGeneration = generationOf(report.version);
  const earlier = conditionsIn(before);
  const conditions = verdictsOf(report).map((verdict): Condition => {
    const same = earlier.find(({ type, status }) => type === verdict.type && status === verdict.status);
    return { ...verdict, observedGeneration, lastTransitionTime: same?.lastTransitionTime ?? timeOf(nowMs) };
  });
  return {
    observedGeneration,
    phase: report.phase,
    ready: (counts?.workers.idle ?? 0) + (counts?.workers.busy ?? 0) + (counts?.workers.draining ?? 0),
    idle: counts?.workers.idle ?? 0,
    busy: counts?.workers.busy ?? 0,
    queued: counts?.sessions.queued ?? 0,
    desired: report.wanted ?? 0,
    lastDecision: lastDecisionOf(decision, before),
    conditions,
  };
}

/**
 * What a pool last decided, and since when it decides so. A server that has just started has not seen its pods yet, and
 * a thousand pools must not mean two thousand writes: until then the decision from before stands.
 */
function lastDecisionOf(decision: DocumentReport['decision'], before: KubeObject['status']): Decided | undefined {
  const earlier = (before as { lastDecision?: Decided } | undefined)?.lastDecision;
  if (!decision) return undefined;
  if (earlier && decision.reasons.includes('not-listed')) return earlier;
  const { did, why, at } = decision;
  const isSame = did === 'nothing' && earlier?.did === did && earlier.why === why;
  return isSame ? earlier : { did, why, at: timeOf(at) };
}

function conditionsIn(status: unknown): readonly Partial<Condition>[] {
  const conditions = (status as { conditions?: unknown } | undefined)?.conditions;
  return Array.isArray(conditions) ? conditions : [];
}

function verdictsOf(report: DocumentReport): readonly Verdict[] {
  const synced = syncedOf(report);
  const stalled = synced.status === 'False' ? [stalledBy(synced)] : [];
  return [readyOf(report), synced, limitedOf(report), healthyOf(report), ...stalled];
}

/**
 * Flux and others that read conditions by the rules of kstatus know `Ready` and `Stalled` alone: without the second an
 * object whose newest generation is refused would be in order, since the agents of the last good one are connected.
 */
const stalledBy = ({ reason, message }: Verdict): Verdict => ({ type: 'Stalled', status: 'True', reason, message });

/** With the path in the object, where there is one problem alone. */
const saidOf = ({ message, place }: NonNullable<DocumentReport['fault']>): string =>
  place === undefined ? message : `${place}: ${message}`;

function readyOf({ phase, counts, wanted = 0, drain, fault }: DocumentReport): Verdict {
  const type = 'Ready';
  if (phase === 'refused') {
    return { type, status: 'False', reason: 'Refused', message: fault ? saidOf(fault) : 'The object forms no pool.' };
  }
  if (phase === 'removing') {
    const message = drain
      ? `Draining: ${drain.sessions} sessions left; busy pods may finish until ${timeOf(drain.deadlineAt)}.`
      : 'Draining.';
    return { type, status: 'False', reason: 'Draining', message };
  }
  if (phase === 'paused') return { type, status: 'False', reason: 'Paused', message: 'The pool is paused.' };
  const ready = (counts?.workers.idle ?? 0) + (counts?.workers.busy ?? 0);
  const message = `${ready} of ${wanted} agents are connected.`;
  if (ready >= wanted) return { type, status: 'True', reason: 'AgentsConnected', message };
  return { type, status: 'False', reason: 'AgentsStarting', message };
}

function syncedOf({ fault, pool }: DocumentReport): Verdict {
  const type = 'Synced';
  if (!fault) return { type, status: 'True', reason: 'Applied', message: 'This generation is in force.' };
  const reason = fault.kind === 'conflict' ? 'NameTaken' : fault.kind === 'denied' ? 'NotAllowed' : 'Invalid';
  const stays = pool === undefined ? '' : ' The last good definition stays in force.';
  // Some say it with a full stop, some without.
  const said = saidOf(fault).replace(/[^.?!]$/, '$&.');
  return { type, status: 'False', reason, message: `${said}${stays}` };
}

/** The reasons that mean: more is asked for than the bounds of the pool allow. */
const AT_BOUNDS: ReadonlySet<string> = new Set(['max-agents', 'max-price', 'backends-full']);

function limitedOf({ decision }: DocumentReport): Verdict {
  const type = 'ScalingLimited';
  const isLimited = decision?.reasons.some((code) => AT_BOUNDS.has(code)) ?? false;
  if (!isLimited) return { type, status: 'False', reason: 'WithinBounds', message: 'The pool may grow.' };
  return { type, status: 'True', reason: 'AtMaximum', message: decision?.why ?? '' };
}

function healthyOf({ trouble }: DocumentReport): Verdict {
  const type = 'BackendHealthy';
  if (trouble === undefined) return { type, status: 'True', reason: 'Working', message: 'Pods can be created.' };
  return { type, status: 'False', reason: 'Failing', message: trouble.message };
}
