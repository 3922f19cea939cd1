// What stays in memory of the pods, nodes and budgets of a cluster.
import type { NodeTaint } from '#core/node-group.ts';
import type { KubeObject } from '#kube/object.ts';
import { CORDONED, DELETION_REASON, DELETION_TAINT, KEPT_IDLE_TAINT, POOL_LABEL, TERMINATION_TIME } from './objects.ts';
import type { BudgetFact } from './pod-stay.ts';
import { type Amounts, readAllocatable } from './simulation/amounts.ts';
import { type PodClass, type PodClasses, podClassOf } from './simulation/pod-class.ts';
import { asArray, asRecord, asText, asTexts, asTime } from './simulation/reading.ts';
import { readLabelSelector } from './simulation/selectors.ts';

export interface PodFact {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly class: PodClass;
  /** The node that it is bound to; empty while it is not. */
  readonly node: string;
  readonly createdAt: number;
  readonly owner?: { readonly kind: string; readonly uid: string } | undefined;
  /** It goes with its node: of a DaemonSet, or of the node itself. */
  readonly isOfNode: boolean;
  readonly isEnded: boolean;
  readonly isDeleted: boolean;
  /** The scheduler found no node, and says why. */
  readonly refusal?: string | undefined;
  /** Since when it finds none, as the scheduler says: in whole seconds. */
  readonly waitsSince?: number | undefined;
  /** It is held back, or the scheduler makes room for it already. */
  readonly isSpokenFor: boolean;
  readonly safeToEvict?: boolean | undefined;
  readonly mustStay: boolean;
}

export interface NodeFact {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly provisioner: string;
  readonly providerId: string;
  readonly createdAt: number;
  readonly labels: Readonly<Record<string, string>>;
  /** All, ours too, as they are written. */
  readonly taints: readonly NodeTaint[];
  readonly allocatable: Amounts;
  readonly isReady: boolean;
  /** Since when it is ready, or is not. */
  readonly readySince: number;
  readonly isCordoned: boolean;
  /** It was us who cordoned it. */
  readonly cordonedByUs: boolean;
  /** From when it may be deleted, by our taint. */
  readonly deletionAt?: number | undefined;
  readonly deletionReason?: string | undefined;
  /** It bears our taint of idle nodes. */
  readonly isKeptIdle: boolean;
  readonly endsAt?: number | undefined;
  readonly mustStay: boolean;
}

const MIRROR = 'kubernetes.io/config.mirror';
const SAFE_TO_EVICT = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const MUST_STAY = ['karpenter.sh/do-not-disrupt', 'cluster-autoscaler.kubernetes.io/scale-down-disabled'];
const CONTROLLERS_OF_NODE = ['DaemonSet', 'Node'];

const conditionOf = (status: Readonly<Record<string, unknown>>, type: string): Readonly<Record<string, unknown>> =>
  asArray(status.conditions)
    .map(asRecord)
    .find((one) => one.type === type) ?? {};

const booleanOf = (text: string | undefined): boolean | undefined =>
  text === 'true' ? true : text === 'false' ? false : undefined;

const mustStay = (annotations: Readonly<Record<string, string>>): boolean =>
  MUST_STAY.some((name) => annotations[name] === 'true');

/** Keeps each class of pods once, as long as the view lives. */
export function podReader(): (object: KubeObject) => PodFact {
  const classes: PodClasses = new Map();
  return (object) => {
    const { metadata } = object;
    const spec = asRecord(object.spec);
    const status = asRecord(object.status);
    const annotations = asTexts(metadata.annotations);
    const owner = asArray(metadata.ownerReferences)
      .map(asRecord)
      .find(({ controller }) => controller === true);
    const { reason, message, status: isScheduled, lastTransitionTime } = conditionOf(status, 'PodScheduled');
    const isRefused = isScheduled === 'False' && reason === 'Unschedulable';
    return {
      key: `${metadata.namespace ?? ''}/${metadata.name}`,
      uid: metadata.uid ?? '',
      class: podClassOf(object, classes),
      node: asText(spec.nodeName),
      createdAt: asTime(metadata.creationTimestamp) ?? 0,
      owner: owner && { kind: asText(owner.kind), uid: asText(owner.uid) },
      isOfNode: CONTROLLERS_OF_NODE.includes(asText(owner?.kind)) || annotations[MIRROR] !== undefined,
      isEnded: ['Succeeded', 'Failed'].includes(asText(status.phase)),
      isDeleted: metadata.deletionTimestamp !== undefined,
      refusal: isRefused ? asText(message) : undefined,
      waitsSince: isRefused ? asTime(lastTransitionTime) : undefined,
      isSpokenFor: asArray(spec.schedulingGates).length > 0 || asText(status.nominatedNodeName) !== '',
      safeToEvict: booleanOf(annotations[SAFE_TO_EVICT]),
      mustStay: mustStay(annotations),
    };
  };
}

/** With all their fields: whoever writes the list writes those of others too. */
const taintsOf = (written: unknown): readonly NodeTaint[] =>
  asArray(written).map((one) => asRecord(one) as unknown as NodeTaint);

export function nodeFactOf(object: KubeObject): NodeFact {
  const { metadata } = object;
  const spec = asRecord(object.spec);
  const status = asRecord(object.status);
  const annotations = asTexts(metadata.annotations);
  const labels = asTexts(metadata.labels);
  const taints = taintsOf(spec.taints);
  const ready = conditionOf(status, 'Ready');
  const ours = taints.find(({ key }) => key === DELETION_TAINT);
  const createdAt = asTime(metadata.creationTimestamp) ?? 0;
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    provisioner: labels[POOL_LABEL] ?? '',
    providerId: asText(spec.providerID),
    createdAt,
    labels,
    taints,
    allocatable: readAllocatable(status.allocatable),
    isReady: ready.status === 'True',
    readySince: asTime(ready.lastTransitionTime) ?? createdAt,
    isCordoned: spec.unschedulable === true,
    cordonedByUs: annotations[CORDONED] === 'true',
    deletionAt: ours && Number(ours.value) * 1_000,
    deletionReason: annotations[DELETION_REASON],
    isKeptIdle: taints.some(({ key }) => key === KEPT_IDLE_TAINT),
    endsAt: asTime(annotations[TERMINATION_TIME]),
    mustStay: mustStay(annotations),
  };
}

export function budgetFactOf({ metadata, spec, status }: KubeObject): BudgetFact {
  const { observedGeneration, disruptionsAllowed } = asRecord(status);
  // What its controller has not counted yet lets nothing go.
  const isCounted = Number(observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    selector: readLabelSelector(asRecord(spec).selector),
    allowed: isCounted ? Number(disruptionsAllowed ?? 0) : 0,
  };
}
