// Demands of pods on the pods around them, as the scheduler reads them (plugins PodTopologySpread and InterPodAffinity).
import { type Fields, fieldsOf, type KubeObject, listOf, textOf } from '../objects/object.ts';
import { selectorOf } from '../objects/selectors.ts';
import { isSelected, untolerated } from './node-demands.ts';

export interface PlacedPods {
  readonly nodes: readonly KubeObject[];
  /** Those that have not ended. */
  podsOn(node: string): readonly KubeObject[];
}

/** What keeps a pod from a node for the sake of other pods; undefined: nothing. */
export type NeighbourRule = (node: KubeObject) => string | undefined;

type Term = 'podAffinity' | 'podAntiAffinity';

const termsOf = ({ spec }: KubeObject, kind: Term): readonly Fields[] =>
  listOf(fieldsOf(fieldsOf(spec?.affinity)[kind]).requiredDuringSchedulingIgnoredDuringExecution).map(fieldsOf);

export const repelsOthers = (pod: KubeObject): boolean => termsOf(pod, 'podAntiAffinity').length > 0;

/** Whether a term of that owner means the pod. Namespaces have no labels here that a selector could tell apart. */
function means(term: Fields, owner: KubeObject, pod: KubeObject): boolean {
  const { namespaces, namespaceSelector, labelSelector } = term;
  const named = listOf(namespaces).map(textOf);
  const own = owner.metadata.namespace ?? '';
  const among = named.length > 0 || namespaceSelector !== undefined ? named : [own];
  const isThere = namespaceSelector !== undefined || among.includes(pod.metadata.namespace ?? '');
  return isThere && selectorOf(labelSelector)(pod.metadata.labels ?? {});
}

const domainOf = ({ metadata }: KubeObject, key: unknown): string | undefined => metadata.labels?.[textOf(key)];

/** How many of the pods that count are in each domain of that key. */
function countBy(placed: PlacedPods, key: unknown, counts: (pod: KubeObject) => boolean): Map<string, number> {
  const sums = new Map<string, number>();
  for (const node of placed.nodes) {
    const domain = domainOf(node, key);
    const here = domain === undefined ? 0 : placed.podsOn(node.metadata.name).filter(counts).length;
    if (domain !== undefined && here > 0) sums.set(domain, (sums.get(domain) ?? 0) + here);
  }
  return sums;
}

const countAt = (sums: ReadonlyMap<string, number>, node: KubeObject, key: unknown): number =>
  sums.get(domainOf(node, key) ?? '') ?? 0;

function affinityRule(pod: KubeObject, placed: PlacedPods): NeighbourRule {
  const terms = termsOf(pod, 'podAffinity');
  const meansAll = (other: KubeObject): boolean => terms.every((term) => means(term, pod, other));
  const sums = terms.map(({ topologyKey }) => countBy(placed, topologyKey, meansAll));
  // The first of a group that wants to be together may be anywhere.
  const isFirst = sums.every(({ size }) => size === 0) && meansAll(pod);
  return (node) => {
    const isLabelled = terms.every(({ topologyKey }) => domainOf(node, topologyKey) !== undefined);
    const isDrawn = terms.every(({ topologyKey }, at) => countAt(sums[at] ?? new Map(), node, topologyKey) > 0);
    return isLabelled && (isDrawn || isFirst) ? undefined : "node(s) didn't match pod affinity rules";
  };
}

function antiAffinityRule(pod: KubeObject, placed: PlacedPods): NeighbourRule {
  const terms = termsOf(pod, 'podAntiAffinity');
  const sums = terms.map((term) => countBy(placed, term.topologyKey, (other) => means(term, pod, other)));
  return (node) =>
    terms.some(({ topologyKey }, at) => countAt(sums[at] ?? new Map(), node, topologyKey) > 0)
      ? "node(s) didn't match pod anti-affinity rules"
      : undefined;
}

/** Those that are there may want this one away. */
function repelledRule(pod: KubeObject, placed: PlacedPods): NeighbourRule {
  const repelled = new Set<string>();
  for (const node of placed.nodes) {
    for (const owner of placed.podsOn(node.metadata.name).filter(repelsOthers)) {
      for (const term of termsOf(owner, 'podAntiAffinity')) {
        const domain = domainOf(node, term.topologyKey);
        if (domain !== undefined && means(term, owner, pod)) repelled.add(`${textOf(term.topologyKey)} ${domain}`);
      }
    }
  }
  return ({ metadata: { labels = {} } }) =>
    Object.entries(labels).some(([key, domain]) => repelled.has(`${key} ${domain}`))
      ? "node(s) didn't satisfy existing pods anti-affinity rules"
      : undefined;
}

const SPREAD = "node(s) didn't match pod topology spread constraints";

/** The labels of the pod itself narrow its selector. */
function selectorOfSpread({ labelSelector, matchLabelKeys }: Fields, { metadata }: KubeObject) {
  const own = metadata.labels ?? {};
  const same = listOf(matchLabelKeys)
    .map(textOf)
    .filter((key) => own[key] !== undefined);
  const selects = selectorOf(labelSelector);
  return (labels: Readonly<Record<string, string>>): boolean =>
    selects(labels) && same.every((key) => labels[key] === own[key]);
}

function spreadRule(pod: KubeObject, placed: PlacedPods): NeighbourRule {
  const constraints = listOf(pod.spec?.topologySpreadConstraints)
    .map(fieldsOf)
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway');
  const isLabelled = (node: KubeObject): boolean =>
    constraints.every(({ topologyKey }) => domainOf(node, topologyKey) !== undefined);
  const rules = constraints.map((constraint) => {
    const { topologyKey, maxSkew, minDomains = 1, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
    const selects = selectorOfSpread(constraint, pod);
    const isCounted = ({ metadata }: KubeObject): boolean =>
      metadata.deletionTimestamp === undefined &&
      metadata.namespace === pod.metadata.namespace &&
      selects(metadata.labels ?? {});
    const isDomain = (node: KubeObject): boolean =>
      isLabelled(node) &&
      (nodeAffinityPolicy === 'Ignore' || isSelected(pod, node)) &&
      (nodeTaintsPolicy !== 'Honor' || untolerated(pod, node) === undefined);
    const sums = new Map<string, number>();
    for (const node of placed.nodes.filter(isDomain)) {
      const domain = domainOf(node, topologyKey) ?? '';
      sums.set(domain, (sums.get(domain) ?? 0) + placed.podsOn(node.metadata.name).filter(isCounted).length);
    }
    const least = sums.size < Number(minDomains) ? 0 : Math.min(...sums.values());
    const own = selects(pod.metadata.labels ?? {}) ? 1 : 0;
    return (node: KubeObject): boolean =>
      sums.has(domainOf(node, topologyKey) ?? '') && countAt(sums, node, topologyKey) + own - least <= Number(maxSkew);
  });
  return (node) => {
    if (!isLabelled(node)) return `${SPREAD} (missing required label)`;
    return rules.every((allows) => allows(node)) ? undefined : SPREAD;
  };
}

/** The rules of a pod and of those that are there, read once for all nodes. */
export function neighbourRules(pod: KubeObject, placed: PlacedPods, isAnyRepelling: boolean): readonly NeighbourRule[] {
  return [
    ...(listOf(pod.spec?.topologySpreadConstraints).length > 0 ? [spreadRule(pod, placed)] : []),
    ...(termsOf(pod, 'podAffinity').length > 0 ? [affinityRule(pod, placed)] : []),
    ...(repelsOthers(pod) ? [antiAffinityRule(pod, placed)] : []),
    ...(isAnyRepelling ? [repelledRule(pod, placed)] : []),
  ];
}
