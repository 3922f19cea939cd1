// What an AgentPool shows of its pool: counts, the last decision, and conditions that tools wait for.
import type { DocumentReport } from '#core/source.ts';
import type { KubeObject } from '#kube/object.ts';
import { timeOf, type Verdict, verdictsOf } from './conditions.ts';

export interface Condition extends Verdict {
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
  /** `Ready`, or the reason why it is not. */
  readonly state: string;
  /** Agents that are connected. */
  readonly ready: number;
  readonly idle: number;
  readonly busy: number;
  /** Sessions that wait for a slot. */
  readonly queued: number;
  /** Agents that the pool must have now. */
  readonly desired: number;
  readonly lastDecision?: Decided | undefined;
  readonly conditions: readonly Condition[];
}

/** The generation that a report is about, out of the version of its document. */
const generationOf = (version: string): number => Number(/\.(\d+)/.exec(version)?.[1] ?? 0);

/** The status to write; conditions keep the time since when they are as they are. */
export function statusOf(report: DocumentReport, before: KubeObject['status'], nowMs: number): AgentPoolStatus {
  const { counts, decision } = report;
  const observedGeneration = generationOf(report.version);
  if (isAwaited(report) && isAbout(before, observedGeneration)) return before;
  const earlier = conditionsIn(before);
  const conditions = verdictsOf(report).map((verdict): Condition => {
    const same = earlier.find(({ type, status }) => type === verdict.type && status === verdict.status);
    return { ...verdict, observedGeneration, lastTransitionTime: same?.lastTransitionTime ?? timeOf(nowMs) };
  });
  return {
    observedGeneration,
    phase: report.phase,
    state: stateOf(conditions),
    ready: (counts?.workers.idle ?? 0) + (counts?.workers.busy ?? 0) + (counts?.workers.draining ?? 0),
    idle: counts?.workers.idle ?? 0,
    busy: counts?.workers.busy ?? 0,
    queued: counts?.sessions.queued ?? 0,
    desired: report.wanted ?? 0,
    lastDecision: isStillRefused(conditions, earlier) ? decidedIn(before) : lastDecisionOf(decision, before),
    conditions,
  };
}

/**
 * A server that has just started has not seen its pods yet: until then what was shown before stands, since a thousand
 * pools that are Ready must not become Unknown.
 */
const isAwaited = ({ phase, isPlanned, trouble, frozen }: DocumentReport): boolean =>
  phase === 'active' && !isPlanned && !trouble && !frozen;

const isAbout = (status: KubeObject['status'], generation: number): status is KubeObject['status'] & AgentPoolStatus =>
  (status as { observedGeneration?: number } | undefined)?.observedGeneration === generation &&
  conditionsIn(status).some(({ type }) => type === 'Ready');

/** A refused definition comes first: the agents of the last good one may be ready. */
function stateOf(conditions: readonly Condition[]): string {
  const by = (wanted: Condition['type']): Condition | undefined => conditions.find(({ type }) => type === wanted);
  const [stalled, ready, healthy] = [by('Stalled'), by('Ready'), by('BackendHealthy')];
  if (stalled) return stalled.reason;
  if (ready?.status !== 'True') return ready?.reason ?? 'Unknown';
  return healthy?.status === 'False' ? healthy.reason : 'Ready';
}

/** Each retry of a refused launch is two decisions, which say nothing new: to launch, and that it failed again. */
function isStillRefused(conditions: readonly Condition[], earlier: readonly Partial<Condition>[]): boolean {
  const readyIn = (all: readonly Partial<Condition>[]) => all.find(({ type }) => type === 'Ready');
  const now = readyIn(conditions);
  const then = readyIn(earlier);
  return (
    now?.reason === 'PodsRefused' &&
    now.reason === then?.reason &&
    now.message === then.message &&
    now.observedGeneration === then.observedGeneration
  );
}

const decidedIn = (status: KubeObject['status']): Decided | undefined =>
  (status as { lastDecision?: Decided } | undefined)?.lastDecision;

/**
 * What a pool last decided, and since when it decides so. A server that has just started has not seen its pods yet, and
 * a thousand pools must not mean two thousand writes: until then the decision from before stands.
 */
function lastDecisionOf(decision: DocumentReport['decision'], before: KubeObject['status']): Decided | undefined {
  const earlier = decidedIn(before);
  if (!decision) return undefined;
  if (earlier && decision.reasons.includes('not-listed')) return earlier;
  const { did, why, at } = decision;
  const isSame = did === 'nothing' && earlier?.did === did && earlier.why === why;
  return isSame ? earlier : { did, why, at: timeOf(at) };
}

export function conditionsIn(status: unknown): readonly Partial<Condition>[] {
  const conditions = (status as { conditions?: unknown } | undefined)?.conditions;
  return Array.isArray(conditions) ? conditions : [];
}
