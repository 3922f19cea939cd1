// The disruption controller: how many pods of each PodDisruptionBudget may go, kept in its status.
import { type Fields, fieldsOf, type KubeObject, listOf, textOf, timestamp } from '../objects/object.ts';
import { selectorOf } from '../objects/selectors.ts';
import { conditionOf } from '../pods/status.ts';
import type { World } from '../world.ts';

export const BUDGETS = 'policy/poddisruptionbudgets';
const PODS = '/pods';
const OWNERS: Readonly<Record<string, string>> = {
  StatefulSet: 'apps/statefulsets',
  Deployment: 'apps/deployments',
};

/** Whether a budget speaks of that pod: without a selector of none, with an empty one of all in its namespace. */
export function selectsPod({ metadata, spec }: KubeObject, pod: KubeObject): boolean {
  if (spec?.selector === undefined || metadata.namespace !== pod.metadata.namespace) return false;
  return selectorOf(spec.selector)(pod.metadata.labels ?? {});
}

const isThere = ({ metadata, status }: KubeObject): boolean =>
  metadata.deletionTimestamp === undefined && !['Succeeded', 'Failed'].includes(textOf(status?.phase));

/** A number, or a percentage that is rounded up. */
const scaled = (value: unknown, of: number): number =>
  typeof value === 'string' && value.endsWith('%') ? Math.ceil((Number.parseInt(value, 10) * of) / 100) : Number(value);

/** How many pods their owners want; or why that cannot be told. */
function wantedByOwners({ store }: World, pods: readonly KubeObject[]): number | string {
  const sizes = new Map<string, number>();
  for (const { metadata } of pods) {
    const [owner] = metadata.ownerReferences ?? [];
    const found = owner && store.get(OWNERS[owner.kind] ?? '', metadata.namespace, owner.name);
    if (!found) return `found no controllers for pod "${metadata.name}"`;
    sizes.set(found.metadata.uid, Number(found.spec?.replicas ?? 1));
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function sizesOf(world: World, { spec = {} }: KubeObject, pods: readonly KubeObject[]) {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable === 'number')
    return { expectedPods: pods.length, desiredHealthy: minAvailable };
  const expectedPods = wantedByOwners(world, pods);
  if (typeof expectedPods === 'string') return expectedPods;
  const desiredHealthy =
    maxUnavailable === undefined
      ? scaled(minAvailable ?? 0, expectedPods)
      : Math.max(0, expectedPods - scaled(maxUnavailable, expectedPods));
  return { expectedPods, desiredHealthy };
}

const ALLOWED = 'DisruptionAllowed';

/** With its condition, which says the same in words. */
export function withAllowed(status: Fields, allowed: number, nowMs: number, failure?: string): Fields {
  const word = allowed > 0 ? 'True' : 'False';
  const before = listOf(status.conditions)
    .map(fieldsOf)
    .find(({ type }) => type === ALLOWED);
  const lastTransitionTime = before?.status === word ? before.lastTransitionTime : timestamp(nowMs);
  const { observedGeneration } = status;
  const enough = allowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  const reason = failure === undefined ? enough : 'SyncFailed';
  const condition = {
    type: ALLOWED,
    status: word,
    observedGeneration,
    reason,
    message: failure ?? '',
    lastTransitionTime,
  };
  return { ...status, disruptionsAllowed: allowed, conditions: [condition] };
}

/** Where the pods cannot be counted, none may go. */
function statusOf(world: World, budget: KubeObject): Fields {
  const nowMs = world.clock.now();
  const { generation: observedGeneration, namespace } = budget.metadata;
  const pods = world.store.list(PODS, namespace).filter((pod) => isThere(pod) && selectsPod(budget, pod));
  const sizes = sizesOf(world, budget, pods);
  const before = fieldsOf(budget.status);
  if (typeof sizes === 'string') return withAllowed({ ...before, observedGeneration }, 0, nowMs, sizes);
  const currentHealthy = pods.filter((pod) => conditionOf(pod, 'Ready')?.status === 'True').length;
  const allowed = sizes.expectedPods > 0 ? Math.max(0, currentHealthy - sizes.desiredHealthy) : 0;
  const { conditions } = before;
  const status = { observedGeneration, currentHealthy, ...sizes, ...(conditions !== undefined && { conditions }) };
  return withAllowed(status, allowed, nowMs);
}

export function runDisruptionController(world: World): void {
  const { store, clock, behaviour } = world;
  const waiting = new Set<string>();

  function reconcile(namespace: string, name: string): void {
    const budget = store.get(BUDGETS, namespace, name);
    if (!budget || budget.metadata.deletionTimestamp !== undefined) return;
    const status = statusOf(world, budget);
    if (JSON.stringify(status) !== JSON.stringify(budget.status)) store.replace(BUDGETS, { ...budget, status });
  }

  function soon({ metadata: { namespace = '', name } }: KubeObject): void {
    const key = `${namespace}/${name}`;
    if (waiting.has(key)) return;
    waiting.add(key);
    clock.alarm(behaviour.collectMs, () => {
      waiting.delete(key);
      reconcile(namespace, name);
    });
  }

  store.watch(({ storage, object, previous }) => {
    if (storage === BUDGETS) return soon(object);
    if (storage !== PODS && !Object.values(OWNERS).includes(storage)) return;
    for (const budget of store.list(BUDGETS, object.metadata.namespace))
      if (storage !== PODS || [object, previous].some((pod) => pod && selectsPod(budget, pod))) soon(budget);
  });
}
