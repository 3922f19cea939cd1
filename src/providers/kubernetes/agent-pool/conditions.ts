// The conditions of an AgentPool: what tools wait for, and what people read when they wait for too long.
import type { FaultKind } from '#core/fault.ts';
import type { DocumentReport } from '#core/source.ts';
import { THAW } from './document.ts';

export const CONDITIONS = ['Ready', 'Synced', 'ScalingLimited', 'BackendHealthy', 'Frozen', 'Stalled'] as const;

export interface Verdict {
  readonly type: (typeof CONDITIONS)[number];
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** All that holds of a pool; `Frozen` and `Stalled` are there only while they are true. */
export function verdictsOf(report: DocumentReport): readonly Verdict[] {
  const synced = syncedOf(report);
  const stalled = synced.status === 'False' ? [stalledBy(synced)] : [];
  return [readyOf(report), synced, limitedOf(report), healthyOf(report), ...frozenOf(report), ...stalled];
}

/**
 * Flux and others that read conditions by the rules of kstatus know `Ready` and `Stalled` alone: without the second an
 * object whose newest generation is refused would be in order, since the agents of the last good one are connected.
 */
const stalledBy = ({ reason, message }: Verdict): Verdict => ({ type: 'Stalled', status: 'True', reason, message });

/** With the path in the object, where there is one problem alone. */
const saidOf = ({ message, place }: NonNullable<DocumentReport['fault']>): string =>
  place === undefined ? message : `${place}: ${message}`;

// Some say it with a full stop, some without.
const sentence = (said: string): string => said.replace(/[^.?!…]$/, '$&.');

const ready = (status: Verdict['status'], reason: string, message: string): Verdict => ({
  type: 'Ready',
  status,
  reason,
  message,
});

function readyOf(report: DocumentReport): Verdict {
  const { phase, drain, fault, frozen } = report;
  if (phase === 'refused') return ready('False', 'Refused', fault ? saidOf(fault) : 'The object forms no pool.');
  if (phase === 'removing') {
    const message = drain
      ? `Draining: ${drain.sessions} sessions left; busy pods may finish until ${timeOf(drain.deadlineAt)}.`
      : 'Draining.';
    return ready('False', 'Draining', frozen ? `${message} ${freezeText(report, frozen)}` : message);
  }
  if (phase === 'paused') return ready('False', 'Paused', 'The pool is paused.');
  if (frozen) return ready('False', 'Frozen', freezeText(report, frozen));
  return presenceOf(report);
}

/** The faults of a call for pods that no time mends by itself. */
const REFUSALS: ReadonlySet<FaultKind> = new Set(['denied', 'invalid', 'quota', 'missing', 'conflict']);

/** The API server refuses the pods themselves, or does not let us ask for them. */
const isRefusal = ({ kind, reason }: NonNullable<DocumentReport['trouble']>): boolean =>
  REFUSALS.has(kind) && (reason === 'LaunchFailed' || reason === 'ListFailed');

/** Machines did not join: nothing is launched, or one at a time. */
const SUSPENDED: ReadonlySet<string> = new Set(['boot-failures', 'probing']);

/** Whether the agents are there that the pool must have. */
function presenceOf({ counts, wanted = 0, returning = 0, isPlanned, trouble, decision }: DocumentReport): Verdict {
  const { idle = 0, busy = 0, lost = 0 } = counts?.workers ?? {};
  const here = idle + busy;
  const said = `${here} of ${wanted} agents are connected`;
  if (trouble && isRefusal(trouble) && (here < wanted || !isPlanned)) {
    return ready('False', 'PodsRefused', sentence(`${said}: ${trouble.message}`));
  }
  if (!isPlanned) return ready('Unknown', 'Reconciling', trouble?.message ?? 'Muster has not looked at its pods yet.');
  if (here >= wanted) return ready('True', 'AgentsConnected', `${said}.`);
  if (here + returning >= wanted) return ready('True', 'AgentsConnected', `${said}; ${returning} may reconnect.`);
  if (decision?.reasons.some((code) => SUSPENDED.has(code))) {
    return ready('False', 'LaunchingSuspended', `${said}. ${decision.why}`);
  }
  if (lost > 0) {
    return ready('False', 'AgentsLost', `${said}; ${lost} ${lost === 1 ? 'is' : 'are'} disconnected.`);
  }
  return ready('False', 'AgentsStarting', sentence(trouble ? `${said}: ${trouble.message}` : said));
}

function freezeText({ pool = '' }: DocumentReport, { isFleet, at, by, why, automatic }: Frozen): string {
  const since = `${isFleet ? 'The fleet' : 'The pool'} is frozen since ${timeOf(at)} by ${by}: ${sentence(why)}`;
  const alone = automatic ? ' It thaws by itself when the agents have reconnected.' : '';
  if (isFleet) return `${since}${alone} To thaw it, an operator must run \`muster thaw\`.`;
  return `${since}${alone} To thaw it, run \`muster thaw -p ${pool}\` or annotate the AgentPool with \`${THAW}\`.`;
}

type Frozen = NonNullable<DocumentReport['frozen']>;

function frozenOf(report: DocumentReport): readonly Verdict[] {
  const { frozen } = report;
  if (!frozen) return [];
  const reason = frozen.isFleet ? 'FleetFrozen' : 'PoolFrozen';
  return [{ type: 'Frozen', status: 'True', reason, message: freezeText(report, frozen) }];
}

function syncedOf({ fault, pool }: DocumentReport): Verdict {
  const type = 'Synced';
  if (!fault) return { type, status: 'True', reason: 'Applied', message: 'This generation is in force.' };
  const reason = fault.kind === 'conflict' ? 'NameTaken' : fault.kind === 'denied' ? 'NotAllowed' : 'Invalid';
  const stays = pool === undefined ? '' : ' The last good definition stays in force.';
  return { type, status: 'False', reason, message: `${sentence(saidOf(fault))}${stays}` };
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
  return { type, status: 'False', reason: healthReason(trouble), message: trouble.message };
}

/** As the cluster calls it where it has a word for it. */
function healthReason(trouble: NonNullable<DocumentReport['trouble']>): string {
  if (isRefusal(trouble)) return 'PodsRefused';
  const { reason } = trouble;
  return reason === undefined || reason === 'LaunchFailed' || reason === 'ListFailed' ? 'Failing' : reason;
}
