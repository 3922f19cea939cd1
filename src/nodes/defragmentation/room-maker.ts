// Room for a pod that waits and that no group can serve: smaller pods of one node move to others, so that it fits there. Pure.
import type { PodFact } from '../cluster-objects.ts';
import { roomOnNode } from '../evaluate.ts';
import type { Eviction } from '../rotation.ts';
import { openEmptying } from '../simulation/emptying.ts';
import type { PodClass } from '../simulation/pod-class.ts';
import { admits, lackIn, take } from '../simulation/room.ts';
import { isForRoom, type SurveyedNode } from '../survey.ts';
import { staysOf, toMove } from './movable.ts';
import type { PlannerInput, PodMove } from './planner.ts';

/** For which pod, on which node, and which pods leave it for that. */
export interface MadeRoom {
  readonly pod: PodFact;
  readonly node: SurveyedNode;
  readonly moves: readonly PodMove[];
}

export interface RoomInput extends PlannerInput {
  readonly pending: readonly PodFact[];
}

const gpusOf = ({ class: { requests } }: PodFact, gpu: string): number => requests[gpu] ?? 0;

/** Its rules about other pods are not followed here: for such pods nothing is moved. */
const hasRules = ({ affinity, antiAffinity, spread }: PodClass): boolean =>
  affinity.length + antiAffinity.length + spread.length > 0;

/** The fewest pods that must leave: smaller ones, none of a higher priority, the largest first. */
function leaversFor(pod: PodFact, node: SurveyedNode, { survey: { gpu, podStay } }: RoomInput): readonly PodFact[] {
  const mayLeave = (other: PodFact): boolean =>
    gpusOf(other, gpu) < gpusOf(pod, gpu) &&
    other.class.priority <= pod.class.priority &&
    staysOf(other, podStay) === undefined &&
    podStay.ofBudget(other) === undefined;
  const room = roomOnNode(node);
  if (!admits(room, pod.class)) return [];
  const leaving: PodFact[] = [];
  const smaller = toMove(node).filter(mayLeave);
  for (const other of smaller.toSorted((a, b) => gpusOf(b, gpu) - gpusOf(a, gpu))) {
    leaving.push(other);
    take(room, other.class);
    if (lackIn(room, pod.class) === undefined) return leaving;
  }
  return [];
}

const mayGiveRoom = ({ phase, fact, group }: SurveyedNode): boolean =>
  group !== undefined && !fact.mustStay && phase === 'ready';

/** Where each of them would go, without the node itself; undefined where one has no place. */
function placesFor(leaving: readonly PodFact[], node: SurveyedNode, { survey, others }: RoomInput) {
  const rooms = survey.nodes.filter(({ phase }) => phase === 'ready').map((one) => [one, roomOnNode(one)] as const);
  const own = rooms.find(([one]) => one === node)?.[1] ?? roomOnNode(node);
  const all = rooms.map(([, room]) => room);
  const emptying = openEmptying({ rooms: all.includes(own) ? all : [...all, own], others, gpu: survey.gpu });
  if (emptying.empty(own, leaving) !== undefined) return undefined;
  return leaving.map((pod): PodMove => ({ pod, to: emptying.placeOf(pod)?.name ?? '' }));
}

/** On which of these nodes the pod could be, after the fewest moves. */
function bestRoom(pod: PodFact, nodes: readonly SurveyedNode[], input: RoomInput): MadeRoom | undefined {
  const found = nodes.flatMap((node) => {
    const leaving = leaversFor(pod, node, input);
    return leaving.length > 0 ? [{ node, leaving }] : [];
  });
  for (const { node, leaving } of found.toSorted((a, b) => a.leaving.length - b.leaving.length)) {
    const moves = placesFor(leaving, node, input);
    if (moves) return { pod, node, moves };
  }
  return undefined;
}

/** Of the pods that wait for a node that no group can give, those that have waited longest first. */
const unserved = ({ pending, evaluation: { packing } }: RoomInput): readonly PodFact[] =>
  pending
    .filter(({ key, class: pod }) => {
      const room = packing.placed.get(key);
      return (room === undefined || room.kind === 'new') && !hasRules(pod);
    })
    .toSorted((a, b) => (a.waitsSince ?? 0) - (b.waitsSince ?? 0) || (a.key < b.key ? -1 : 1));

/** Of one pod at a time. */
export function roomToMake(input: RoomInput, mayBegin: (node: SurveyedNode) => boolean): MadeRoom | undefined {
  const nodes = input.survey.nodes.filter((node) => mayGiveRoom(node) && mayBegin(node));
  for (const pod of unserved(input)) {
    const made = bestRoom(pod, nodes, input);
    if (made) return made;
  }
  return undefined;
}

/** Nodes that are to give room, and that no pod waits for any longer, or whose pods have no place elsewhere now. */
export interface RoomGoesOn {
  readonly evictions: readonly Eviction[];
  readonly vain: readonly SurveyedNode[];
}

/** What is done next about nodes that give room: the rest of their smaller pods leaves, or they are put back. */
export function roomGoesOn(input: RoomInput): RoomGoesOn {
  const evictions: Eviction[] = [];
  const vain: SurveyedNode[] = [];
  for (const node of input.survey.nodes.filter(({ fact }) => isForRoom(fact))) {
    if (node.pods.some(({ isDeleted }) => isDeleted)) continue;
    const [pod] = unserved(input).filter((one) => bestRoom(one, [node], input) !== undefined);
    const made = pod && bestRoom(pod, [node], input);
    if (made) evictions.push({ node, pods: made.moves.map((move) => move.pod) });
    else vain.push(node);
  }
  return { evictions, vain };
}
