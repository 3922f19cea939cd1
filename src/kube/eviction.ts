// Evicting a pod: a deletion that the API server refuses where a PodDisruptionBudget would be violated.
import { isObjectMissing, statusOf } from './faults.ts';
import type { ObjectName } from './object.ts';

export interface EvictOptions {
  /** Refused as stale where the pod of that name is another. */
  readonly uid?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/** `evicted`: it ends now, in its grace period. `gone`: it was not there. `refused`: a budget keeps it, and why. */
export type Evicted = 'evicted' | 'gone' | { readonly refused: string };

export function evictionOf({ namespace, name }: ObjectName, { uid, gracePeriodSeconds }: EvictOptions) {
  const deleteOptions = {
    ...(uid !== undefined && { preconditions: { uid } }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  };
  const isPlain = Object.keys(deleteOptions).length === 0;
  return {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    ...(!isPlain && { deleteOptions }),
  };
}

// pkg/registry/core/pod/storage/eviction.go: with two budgets nobody decides, and the answer is 500 without a reason.
const TWO_BUDGETS = /more than one PodDisruptionBudget/;

/**
 * What a refusal means. A budget answers 429 as a server that has too much to do, but waiting does not help, and other
 * requests are welcome; only the cause tells the two apart.
 */
export function answerOfRefusal(thrown: unknown): Exclude<Evicted, 'evicted'> {
  if (isObjectMissing(thrown)) return 'gone';
  const status = statusOf(thrown);
  const cause = status?.causes.find(({ reason }) => reason === 'DisruptionBudget');
  if (status?.code === 429 && cause) return { refused: cause.message || status.message };
  if (status?.code === 500 && TWO_BUDGETS.test(status.message)) return { refused: status.message };
  throw thrown;
}
