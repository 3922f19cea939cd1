// What others may ask about NodeProvisioners: answers from what the last pass has seen. Pure.
import type { Fault } from '#core/fault.ts';
import type { NodePlan, Nodes, PodObstacles, ShownNode, ShownNodePool } from '#core/node.ts';
import type { PodFact } from './cluster-objects.ts';
import { obstacleOfTemplate, waitsForNode } from './evaluate.ts';
import { roomToGrow } from './growth.ts';
import type { PodStay } from './pod-stay.ts';
import type { Snapshot } from './snapshot.ts';
import { countsOf, lateRotations, statusOfNodePool } from './status.ts';
import { isEmpty, isForRoom, type SurveyedNode } from './survey.ts';
import { afterThaw, didOf, unlessOf, whyDecided } from './words.ts';

function whyExpiring({ fact, endsAt, pods }: SurveyedNode, podStay: PodStay): string {
  const head = `Its machine ends at ${new Date(endsAt ?? 0).toISOString()}`;
  if (fact.deletionAt === undefined) return `${head}: it goes as soon as another is ready in its place.`;
  const kept = pods.flatMap((pod) => {
    const why = podStay.ofItself(pod) ?? podStay.ofBudget(pod);
    return why === undefined ? [] : [`${pod.key} stays: ${why}`];
  });
  return `${head}: its pods are moved${kept.length > 0 ? `; ${kept.slice(0, 3).join('; ')}` : ''}.`;
}

function whyEmptying({ fact, pods }: SurveyedNode, podStay: PodStay): string {
  const since = new Date(fact.deletionAt ?? 0).toISOString();
  const kept = pods.flatMap((pod) => {
    const why = podStay.ofBudget(pod);
    return why === undefined ? [] : [`${pod.key} waits: ${why}`];
  });
  const rest = kept.length > 0 ? `; ${kept.slice(0, 3).join('; ')}` : '';
  if (isForRoom(fact))
    return `Smaller pods leave it since ${since}, so that a larger one that waits fits on it${rest}.`;
  return `Its pods are moved to other nodes since ${since}, so that it can go; ${pods.length} are left${rest}.`;
}

function whyPodsKeep({ pods, gpusRequested: gpus }: SurveyedNode): string {
  const isOne = pods.length === 1;
  if (gpus > 0)
    return `${isOne ? '1 pod is on it, and asks' : `${pods.length} pods are on it, and ask`} for ${gpus} GPUs.`;
  const first = pods.slice(0, 3).map(({ key }) => key);
  return `${isOne ? '1 pod without GPUs keeps' : `${pods.length} pods without GPUs keep`} it: ${first.join(', ')}.`;
}

function whyNode(node: SurveyedNode, podStay: PodStay): string {
  const { fact, phase } = node;
  const at = fact.deletionAt === undefined ? '' : new Date(fact.deletionAt).toISOString();
  if (phase === 'expiring') return whyExpiring(node, podStay);
  if (phase === 'emptying') return whyEmptying(node, podStay);
  if (at !== '' && isEmpty(node)) return `It is deleted at ${at} (${fact.deletionReason ?? 'scheduled'}).`;
  if (phase === 'coming') return 'It is starting: its GPUs are not there yet.';
  if (phase === 'unready')
    return fact.isCordoned ? 'It takes no pods: an operator has cordoned it.' : 'It is not ready.';
  if (!node.group) return 'Its machine is in none of the groups, so Muster does not delete it.';
  if (fact.mustStay) return 'An annotation says that it must stay.';
  if (isEmpty(node)) return 'It is idle and kept.';
  return whyPodsKeep(node);
}

const shownNode = (node: SurveyedNode, podStay: PodStay): ShownNode => ({
  name: node.fact.name,
  phase: node.phase,
  group: node.group?.policy.name,
  gpus: node.gpus,
  gpusRequested: node.gpusRequested,
  pods: node.pods.length,
  deletionAt: node.fact.deletionAt,
  endsAt: node.endsAt,
  why: whyNode(node, podStay),
});

function shown(snapshot: Snapshot): ShownNodePool {
  const counts = countsOf(snapshot);
  const { conditions = [] } = statusOfNodePool(snapshot, undefined, snapshot.at);
  const ready = conditions.find(({ type }) => type === 'Ready');
  return {
    name: snapshot.name,
    isReady: ready?.status === 'True',
    hasCapacity: conditions.every(({ type, status }) => type !== 'CapacityAvailable' || status === 'True'),
    reason: ready?.reason ?? '',
    message: ready?.message ?? '',
    nodes: counts?.currentSize ?? 0,
    target: counts?.targetSize ?? 0,
    ready: counts?.ready ?? 0,
    starting: counts?.starting ?? 0,
    idle: counts?.idleNodes ?? 0,
    gpus: counts?.gpus ?? 0,
    gpusRequested: counts?.gpusRequested ?? 0,
    utilizationPercent: counts?.utilizationPercent ?? 0,
    pendingPods: counts?.pendingPods ?? 0,
    unfitPods: counts?.unfitPods ?? 0,
    lateRotations: lateRotations(snapshot),
    unknownMachines: snapshot.survey?.unknown ?? [],
    groups: snapshot.groups.map(({ policy, state, row }) => ({
      name: policy.name,
      size: state.wanted,
      backoffUntil: row?.backoff?.until,
      lastError: row?.backoff?.why,
    })),
  };
}

function planOf({ name, evaluation, decided, policy, obstacle }: Snapshot): NodePlan {
  if (!evaluation || !decided || !policy) {
    const why = obstacle?.message ?? 'It was not looked at yet.';
    return { name, target: 0, did: 'nothing', why, reason: obstacle?.reason ?? 'Unreachable', alternatives: [] };
  }
  return {
    name,
    target: evaluation.nodes,
    did: didOf(decided.step),
    why: whyDecided(decided, evaluation, policy),
    unless: afterThaw(decided, evaluation, policy) ?? unlessOf(decided, evaluation, policy),
    reason: decided.reason.code,
    alternatives: decided.alternatives,
  };
}

function obstaclesOf({ survey, groups, unfit, at }: Snapshot, pod: PodFact): PodObstacles {
  const verdict = (): string => {
    if (pod.node !== '') return `It is on ${pod.node}.`;
    const known = unfit.get(pod.key);
    if (known !== undefined) return `It makes nothing grow: ${known}.`;
    if (!survey || !waitsForNode(pod, survey.gpu)) return 'It does not wait for a GPU node.';
    return 'It waits for a node.';
  };
  return {
    pod: pod.key,
    verdict: verdict(),
    groups: groups.map((group) => {
      const template = survey?.templates.get(group.id);
      const obstacle = template ? obstacleOfTemplate(pod.class, template) : 'it has no template';
      const room = roomToGrow(group, at);
      const lacks = obstacle === undefined ? undefined : `the pod does not fit: ${obstacle}`;
      return { name: group.policy.name, obstacle: lacks ?? (typeof room === 'string' ? room : 'none') };
    }),
  };
}

export function openNodeRequests(
  snapshots: () => ReadonlyMap<string, Snapshot>,
  podOf: (key: string) => PodFact | undefined,
  fault: () => Fault | undefined,
): Omit<Nodes, 'thaw' | 'defragmentation'> {
  return {
    fault,
    list: () => [...snapshots().values()].map(shown).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    show(name) {
      const snapshot = snapshots().get(name);
      if (!snapshot) return undefined;
      const { nodes = [], podStay } = snapshot.survey ?? {};
      return { provisioner: shown(snapshot), nodes: podStay ? nodes.map((node) => shownNode(node, podStay)) : [] };
    },
    plan(name) {
      const snapshot = snapshots().get(name);
      return snapshot && planOf(snapshot);
    },
    whyPod(name, key) {
      const snapshot = snapshots().get(name);
      const pod = podOf(key);
      return snapshot && pod && obstaclesOf(snapshot, pod);
    },
  };
}
