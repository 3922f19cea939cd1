// What keeps a pod from being evicted, as the API server decides it (pkg/registry/core/pod/storage/eviction.go).
import { BUDGETS, selectsPod, withAllowed } from '../controllers/disruption-budgets.ts';
import { fieldsOf, type KubeObject, textOf } from '../objects/object.ts';
import { conditionOf } from '../pods/status.ts';
import { refuse } from '../wire/status.ts';
import type { World } from '../world.ts';

const VIOLATED = "Cannot evict pod as it would violate the pod's disruption budget.";
const TWO = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
const BUSY_SECONDS = 10;

const violated = (message: string, retryAfterSeconds: number) =>
  refuse('TooManyRequests', VIOLATED, {
    details: { causes: [{ reason: 'DisruptionBudget', message }] },
    retryAfterSeconds,
  });

/** Pods that do not run yet, that go anyway or that have no label are of no budget. */
const isOfNoBudget = ({ metadata, status }: KubeObject): boolean =>
  metadata.deletionTimestamp !== undefined ||
  Object.keys(metadata.labels ?? {}).length === 0 ||
  ['Pending', 'Succeeded', 'Failed'].includes(textOf(status?.phase));

/** One that is not ready may go where the budget has enough without it. */
function isFree(budget: KubeObject, pod: KubeObject): boolean {
  if (conditionOf(pod, 'Ready')?.status === 'True') return false;
  if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy } = fieldsOf(budget.status);
  return Number(desiredHealthy) > 0 && Number(currentHealthy) >= Number(desiredHealthy);
}

/** Throws the refusal of the pod's budget, or takes one disruption off it. */
export function spendBudget(world: World, pod: KubeObject, isDryRun: boolean): void {
  if (isOfNoBudget(pod)) return;
  const { store, clock } = world;
  const [budget, second] = store.list(BUDGETS, pod.metadata.namespace).filter((one) => selectsPod(one, pod));
  if (second) throw refuse('', TWO);
  if (!budget || isFree(budget, pod)) return;
  const { name, generation = 0 } = budget.metadata;
  const status = fieldsOf(budget.status);
  const { observedGeneration = 0, disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0 } = status;
  if (Number(observedGeneration) < generation)
    throw violated(`The disruption budget ${name} is still being processed by the server.`, BUSY_SECONDS);
  const left = Number(disruptionsAllowed) - 1;
  if (left < 0) {
    const { reason, message } = conditionOf(budget, 'DisruptionAllowed') ?? {};
    const failed = `does not allow evicting pods currently because it failed sync: ${message}`;
    const needs = `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw violated(`The disruption budget ${name} ${reason === 'SyncFailed' ? failed : needs}`, 0);
  }
  if (isDryRun) return;
  store.replace(BUDGETS, { ...budget, status: withAllowed(status, left, clock.now()) });
}
