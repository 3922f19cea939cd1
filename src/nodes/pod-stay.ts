// Why a pod is not moved. Pure.
import type { PodFact } from './cluster-objects.ts';
import type { LabelRules } from './simulation/selectors.ts';
import { selects } from './simulation/selectors.ts';

/** A PodDisruptionBudget as it stands. */
export interface BudgetFact {
  readonly namespace: string;
  readonly name: string;
  readonly selector: LabelRules | undefined;
  /** How many of its pods may go now. */
  readonly allowed: number;
}

export interface PodStay {
  /** It is not evicted, whatever the budgets say; undefined: it may be. */
  ofItself(pod: PodFact): string | undefined;
  /** Its budget lets no pod go now. */
  ofBudget(pod: PodFact): string | undefined;
}

export interface PodStayInput {
  budgets(): Iterable<BudgetFact>;
  /** Whether it is a worker of ours that has sessions. */
  isBusyWorker(pod: PodFact): boolean;
}

export const budgetsOf = (pod: PodFact, budgets: Iterable<BudgetFact>): readonly BudgetFact[] =>
  [...budgets].filter(
    ({ namespace, selector }) => namespace === pod.class.namespace && selects(selector, pod.class.labels),
  );

function stayOfItself(pod: PodFact, isBusyWorker: boolean): string | undefined {
  const { owner, safeToEvict, mustStay } = pod;
  if (isBusyWorker) return 'it is a worker with sessions';
  if (mustStay) return 'its annotation do-not-disrupt keeps it';
  if (safeToEvict === false) return 'its annotation safe-to-evict is false';
  if (safeToEvict === true) return undefined;
  if (!owner) return 'no controller would make it again';
  return owner.kind === 'Job' ? 'it is of a Job, which would begin anew' : undefined;
}

export function openPodStay({ budgets, isBusyWorker }: PodStayInput): PodStay {
  return {
    ofItself: (pod) => stayOfItself(pod, isBusyWorker(pod)),
    ofBudget(pod) {
      const [budget, second] = budgetsOf(pod, budgets());
      // The API server evicts no pod with two.
      if (budget && second) return `it has two PodDisruptionBudgets, ${budget.name} and ${second.name}`;
      return budget && budget.allowed <= 0 ? `its PodDisruptionBudget ${budget.name} lets none go now` : undefined;
    },
  };
}
