// The class of a pod: all that decides where it fits. Pods of one template have the same class, kept once.
import type { NodeTaint } from '#core/node-group.ts';
import type { KubeObject } from '#kube/object.ts';
import { type Amounts, readRequests } from './amounts.ts';
import { asArray, asRecord, asText, asTexts } from './reading.ts';
import { type LabelRules, type Labels, type NodeTerm, readLabelSelector, readNodeTerms } from './selectors.ts';

/** Demands that pods be, or be not, where the pods that it selects are. */
export interface PodTerm {
  readonly topologyKey: string;
  readonly selector: LabelRules | undefined;
  /** Undefined: of all namespaces. */
  readonly namespaces: readonly string[] | undefined;
}

export interface SpreadRule {
  readonly topologyKey: string;
  readonly selector: LabelRules | undefined;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** Nodes that the pod may not be on are no domain. */
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

export interface Toleration {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
}

export interface PodClass {
  readonly key: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly requests: Amounts;
  readonly nodeSelector: Labels;
  readonly nodeTerms: readonly NodeTerm[] | undefined;
  readonly tolerations: readonly Toleration[];
  /** `TCP 0.0.0.0 8080`. */
  readonly hostPorts: readonly string[];
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly spread: readonly SpreadRule[];
  readonly priority: number;
}

/** Keeps each class once. */
export type PodClasses = Map<string, PodClass>;

// These give every pod of a set a class of its own, and no rule about neighbours names them.
const ORDINAL_LABELS = [
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  'batch.kubernetes.io/job-completion-index',
];

function termsOf(written: unknown, namespace: string): readonly PodTerm[] {
  return asArray(written).map((one) => {
    const { topologyKey, labelSelector, namespaces, namespaceSelector } = asRecord(one);
    const named = asArray(namespaces).map(asText);
    return {
      topologyKey: asText(topologyKey),
      selector: readLabelSelector(labelSelector),
      // We do not follow namespaces: a selector of them is taken as all of them.
      namespaces: namespaceSelector === undefined ? (named.length > 0 ? named : [namespace]) : undefined,
    };
  });
}

function spreadOf(written: unknown, labels: Labels): readonly SpreadRule[] {
  return asArray(written)
    .map(asRecord)
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway')
    .map((one) => {
      const keys = asArray(one.matchLabelKeys).map(asText);
      const same = keys.flatMap((key) =>
        labels[key] === undefined ? [] : [{ key, operator: 'In', values: [labels[key]] }],
      );
      const selector = readLabelSelector(one.labelSelector);
      return {
        topologyKey: asText(one.topologyKey),
        selector: selector && [...selector, ...same],
        maxSkew: Number(one.maxSkew) || 1,
        minDomains: Number(one.minDomains) || 1,
        honorsAffinity: one.nodeAffinityPolicy !== 'Ignore',
        honorsTaints: one.nodeTaintsPolicy === 'Honor',
      };
    });
}

function hostPortsOf(spec: Readonly<Record<string, unknown>>): readonly string[] {
  // An init container that ends before the others start shares its ports with them (pkg/scheduler/util: GetHostPorts).
  const sidecars = asArray(spec.initContainers).filter((one) => asRecord(one).restartPolicy === 'Always');
  return [...asArray(spec.containers), ...sidecars]
    .flatMap((container) => asArray(asRecord(container).ports))
    .map(asRecord)
    .filter(({ hostPort }) => Number(hostPort) > 0)
    .map(
      ({ hostPort, hostIP, protocol }) =>
        `${asText(protocol) || 'TCP'} ${asText(hostIP) || '0.0.0.0'} ${asText(hostPort)}`,
    );
}

const tolerationsOf = (written: unknown): readonly Toleration[] =>
  asArray(written).map((one) => {
    const { key, operator, value, effect } = asRecord(one);
    return { key: asText(key), operator: asText(operator) || 'Equal', value: asText(value), effect: asText(effect) };
  });

/** The class of a pod, the same object for the same class. */
export function podClassOf({ metadata, spec: written }: KubeObject, classes: PodClasses): PodClass {
  const spec = asRecord(written);
  const namespace = metadata.namespace ?? '';
  const affinity = asRecord(spec.affinity);
  const required = (kind: string) => asRecord(affinity[kind]).requiredDuringSchedulingIgnoredDuringExecution;
  const labels = Object.fromEntries(
    Object.entries(asTexts(metadata.labels)).filter(([name]) => !ORDINAL_LABELS.includes(name)),
  );
  const fields = {
    namespace,
    labels,
    requests: readRequests(spec),
    nodeSelector: asTexts(spec.nodeSelector),
    nodeTerms: readNodeTerms(required('nodeAffinity')),
    tolerations: tolerationsOf(spec.tolerations),
    hostPorts: hostPortsOf(spec),
    affinity: termsOf(required('podAffinity'), namespace),
    antiAffinity: termsOf(required('podAntiAffinity'), namespace),
    spread: spreadOf(spec.topologySpreadConstraints, asTexts(metadata.labels)),
    priority: Number(spec.priority) || 0,
  };
  const key = JSON.stringify(fields);
  const known = classes.get(key);
  if (known) return known;
  const made = { key, ...fields };
  classes.set(key, made);
  return made;
}

function isTolerated(taint: NodeTaint, { key, operator, value, effect }: Toleration): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''));
}

/** Whether no taint keeps the pod away. */
export const tolerates = ({ tolerations }: Pick<PodClass, 'tolerations'>, taints: readonly NodeTaint[]): boolean =>
  taints.every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((toleration) => isTolerated(taint, toleration)),
  );
