// Facts of a provisioner → how many nodes it should have, and why. Pure.
import type { NodePhase } from '#core/node.ts';
import type { NodeTemplate } from '#core/node-group.ts';
import type { AccountRooms } from './account-rooms.ts';
import type { PodFact } from './cluster-objects.ts';
import type { NodeNeed } from './growth.ts';
import { openNewNodes, templateRoom } from './new-nodes.ts';
import type { Policy } from './policy.ts';
import { leaversOf } from './rotation-due.ts';
import { demandsOf, type Packing, pack } from './simulation/pack.ts';
import type { PodClass } from './simulation/pod-class.ts';
import { addTo, admits, lackIn, openPodRoom, type PodRoom, type RoomKind } from './simulation/room.ts';
import {
  expiringNodes,
  hasLeft,
  hasStarted,
  isBusy,
  type NodeSurvey,
  ownTaints,
  type SeenGroup,
  type SurveyedNode,
} from './survey.ts';
import { type Quantities, type TargetLimits, type TargetSize, targetSize } from './target.ts';

export interface EvaluateInput {
  readonly survey: NodeSurvey;
  readonly policy: Policy;
  readonly groups: readonly SeenGroup[];
  /** Pods that wait and that it must serve. */
  readonly pending: readonly PodFact[];
  /** Nodes that are not its own, with what is on them: their pods are neighbours. */
  readonly others: readonly PodRoom[];
  readonly rooms: AccountRooms;
  readonly now: number;
}

export interface Evaluation extends TargetSize {
  readonly limits: TargetLimits;
  readonly quantities: Quantities;
  readonly packing: Packing;
  /** Of which groups new nodes must be. */
  readonly needs: readonly NodeNeed[];
  /** Pods that fit now on nodes that are ready, each with the name of its node. */
  readonly fitting: ReadonlyMap<string, string>;
}

/** Whether a new node of that kind would help such a pod at all; if not, what keeps it away. */
export function obstacleOfTemplate(pod: PodClass, template: NodeTemplate): string | undefined {
  const { labels, taints, allocatable } = template;
  const room = openPodRoom({ name: '', kind: 'new', labels, taints, allocatable });
  if (!admits(room, pod)) return 'its node selector, affinity or tolerations';
  return lackIn(room, pod);
}

/** Whether a pod waits for a node that somebody must add. */
export const waitsForNode = (pod: PodFact, gpu: string): boolean =>
  pod.refusal !== undefined &&
  pod.node === '' &&
  !hasLeft(pod) &&
  !pod.isSpokenFor &&
  pod.class.priority >= LEAST_PRIORITY &&
  (pod.class.requests[gpu] ?? 0) > 0;

/** Pods below this never make anything grow. */
const LEAST_PRIORITY = -10;

/** Where pods may be placed in thought, and in which order. */
const KIND_OF: Readonly<Record<NodePhase, RoomKind | undefined>> = {
  ready: 'ready',
  tainted: 'tainted',
  emptying: 'tainted',
  coming: 'coming',
  expiring: undefined,
  unready: undefined,
};

function roomOfNode(node: SurveyedNode, template: NodeTemplate | undefined): PodRoom | undefined {
  const { fact, phase, pods, ofNode } = node;
  const kind = KIND_OF[phase];
  if (kind === undefined) return undefined;
  const isComing = kind === 'coming';
  const room = openPodRoom({
    name: fact.name,
    kind,
    labels: isComing && template ? { ...template.labels, ...fact.labels } : fact.labels,
    taints: isComing && template ? template.taints : ownTaints(fact),
    allocatable: isComing && template ? template.allocatable : fact.allocatable,
  });
  for (const pod of [...pods, ...ofNode]) addTo(room, pod.class);
  return room;
}

/** What is left on a node as it stands, without the taints by which it goes. */
export function roomOnNode({ fact, pods, ofNode }: SurveyedNode): PodRoom {
  const room = openPodRoom({ ...fact, kind: 'ready', taints: ownTaints(fact) });
  for (const pod of [...pods, ...ofNode]) addTo(room, pod.class);
  return room;
}

/** Since when the first of the pods waits that new nodes are for. */
export function neededSinceOf(pending: readonly PodFact[], { packing }: Evaluation): number | undefined {
  const needing = pending.filter(({ key }) => packing.placed.get(key)?.kind === 'new');
  const times = needing.flatMap(({ waitsSince }) => waitsSince ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** What goes with every node, as seen on the one that has most of it. */
function daemonsOf({ nodes }: NodeSurvey): readonly PodClass[] {
  const [most] = nodes.toSorted((a, b) => b.ofNode.length - a.ofNode.length);
  return most?.ofNode.map((pod) => pod.class) ?? [];
}

/** The rooms of all its nodes, those that come too. */
export function roomsOf({ nodes, coming, templates }: NodeSurvey, daemons: readonly PodClass[]): PodRoom[] {
  const templateOf = (group: SeenGroup | undefined) => (group ? templates.get(group.id) : undefined);
  const there = nodes.flatMap((node) => roomOfNode(node, templateOf(node.group)) ?? []);
  const asked = coming.flatMap(({ name, group }) => {
    const template = templateOf(group);
    return template ? templateRoom(name, 'coming', template, daemons) : [];
  });
  return [...there, ...asked];
}

/** Nodes where nothing is placed any more, with what stays there: its pods are neighbours. */
function staysOf(survey: NodeSurvey): PodRoom[] {
  const leaving = new Set(expiringNodes(survey).flatMap((node) => leaversOf(node, survey.podStay)));
  return survey.nodes
    .filter(({ phase }) => phase === 'expiring' || phase === 'unready')
    .map(({ fact, pods, ofNode }) => {
      const room = openPodRoom({ ...fact, kind: 'ready' });
      for (const pod of [...pods, ...ofNode]) if (!leaving.has(pod)) addTo(room, pod.class);
      return room;
    });
}

/** The lowest of all caps on its nodes. */
function capOf({ policy, groups, rooms }: EvaluateInput, nodes: number): number {
  const ofGroups = groups.reduce(
    (sum, { policy: { maxSize }, state }) => sum + Math.min(maxSize, state.most ?? maxSize),
    0,
  );
  const more = [...rooms.values()].reduce((sum, room) => sum + room, 0);
  return Math.min(policy.maxNodes, ofGroups, nodes + more);
}

export function evaluate(input: EvaluateInput): Evaluation {
  const { survey, policy, groups, pending, others } = input;
  const { gpu, nodes, coming, templates } = survey;
  const daemons = daemonsOf(survey);
  const counted = nodes.filter((node) => hasStarted(node) || node.phase === 'coming').length;
  const total = counted + coming.length;
  const template = templates.get(groups[0]?.id ?? '');
  const rooms = roomsOf(survey, daemons);
  const cap = capOf(input, total);
  const isUrgent = expiringNodes(survey).length > 0;
  const newNodes = openNewNodes({ ...input, templates, daemons, most: Math.max(0, cap - total), isUrgent });
  const leaving = expiringNodes(survey).flatMap((node) => leaversOf(node, survey.podStay));
  const packing = pack({
    rooms,
    others: [...others, ...staysOf(survey)],
    gpu,
    demands: demandsOf([...pending, ...leaving].map((pod) => ({ key: pod.key, pod: pod.class }))),
    openRooms: newNodes.openRooms,
  });
  const busyRooms = new Set([...packing.placed.values()].map(({ name }) => name));
  for (const node of nodes) if (isBusy(node) && node.phase !== 'expiring') busyRooms.add(node.fact.name);
  const quantities: Quantities = {
    gpusPerNode: template?.allocatable[gpu] ?? Math.max(0, ...nodes.map(({ gpus }) => gpus)),
    used: nodes.reduce((sum, { gpusRequested }) => sum + gpusRequested, 0),
    pending: pending.reduce((sum, pod) => sum + (pod.class.requests[gpu] ?? 0), 0),
    pendingPods: pending.length,
    leavingPods: leaving.length,
    nodes: total,
    missing: packing.opened.length,
    busy: busyRooms.size,
  };
  const fitting = new Map(
    [...packing.placed].flatMap(([key, { kind, name }]) => (kind === 'ready' ? [[key, name] as const] : [])),
  );
  const limits = { ...policy, mostNodes: cap };
  const needs = newNodes.needsOf(packing.opened);
  return { ...targetSize(quantities, limits), limits, quantities, packing, needs, fitting };
}
