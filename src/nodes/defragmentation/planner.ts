// Which nodes can be emptied because all their pods fit on other nodes that have pods anyway, and where each pod would go. Pure.
import type { PodFact } from '../cluster-objects.ts';
import { type Evaluation, roomOnNode } from '../evaluate.ts';
import { leaversOf } from '../rotation-due.ts';
import { type Emptying, openEmptying } from '../simulation/emptying.ts';
import type { PodRoom } from '../simulation/room.ts';
import { expiringNodes, isEmptying, type NodeSurvey, type SeenGroup, type SurveyedNode } from '../survey.ts';
import { worthEmptying } from './gain.ts';
import { budgetObstacleOf, obstacleOf, toMove } from './movable.ts';

export interface PlannerInput {
  readonly survey: NodeSurvey;
  readonly evaluation: Evaluation;
  readonly groups: readonly SeenGroup[];
  /** Nodes that are not its own, with what is on them. */
  readonly others: readonly PodRoom[];
  /** Names of those among them that take pods without GPUs. */
  readonly takers: ReadonlySet<string>;
}

export interface PodMove {
  readonly pod: PodFact;
  /** The name of a node. */
  readonly to: string;
}

export interface FreedNode {
  readonly node: SurveyedNode;
  readonly moves: readonly PodMove[];
}

export interface DefragPlan {
  /** In the order in which they are emptied. */
  readonly freed: readonly FreedNode[];
  /** By name, why other nodes that have pods keep them. */
  readonly kept: ReadonlyMap<string, string>;
}

export interface DefragPlanner {
  /** Nodes to consider, in this order. */
  readonly nodes: readonly SurveyedNode[];
  consider(node: SurveyedNode): void;
  /** What was found of the nodes that were considered. */
  plan(): DefragPlan;
}

/** Nodes that are being emptied come first, then those with the fewest GPUs in use, and of these the ones with few pods. */
const byOrder = (a: SurveyedNode, b: SurveyedNode): number =>
  Number(isEmptying(b)) - Number(isEmptying(a)) ||
  a.gpusRequested - b.gpusRequested ||
  a.pods.length - b.pods.length ||
  (a.fact.name < b.fact.name ? -1 : 1);

/** How many nodes of the group may go without making it smaller than its least size. */
const sparesOf = (group: SeenGroup, { nodes }: NodeSurvey): number =>
  group.state.wanted -
  group.policy.minSize -
  nodes.filter((node) => node.group === group && node.fact.deletionAt !== undefined).length;

/** A node that is empty saves nothing once it is filled. */
const takesPods = (node: SurveyedNode): boolean => isEmptying(node) || (node.phase === 'ready' && node.pods.length > 0);

/** Its room, those where its pods may go, and the neighbours. */
function openRooms({ survey, others, takers }: PlannerInput) {
  const { gpu, nodes, podStay } = survey;
  const own = new Map(nodes.map((node) => [node, roomOnNode(node)]));
  const isElsewhere = ({ name, free }: PodRoom): boolean => takers.has(name) && !((free[gpu] ?? 0) > 0);
  const roomsOf = (isOpen: boolean): PodRoom[] => [
    ...[...own].filter(([node]) => takesPods(node) === isOpen).map(([, room]) => room),
    ...others.filter((room) => isElsewhere(room) === isOpen),
  ];
  const emptying: Emptying = openEmptying({ gpu, rooms: roomsOf(true), others: roomsOf(false) });
  emptying.reserve(expiringNodes(survey).flatMap((node) => leaversOf(node, podStay)));
  return { own, emptying };
}

export function openDefragPlanner(input: PlannerInput): DefragPlanner {
  const { survey } = input;
  const { podStay } = survey;
  const { own, emptying } = openRooms(input);
  const emptied: SurveyedNode[] = [];
  const kept = new Map<string, string>();
  const spares = new Map(input.groups.map((group) => [group, sparesOf(group, survey)]));

  function refusalOf(node: SurveyedNode): string | undefined {
    const obstacle = obstacleOf(node, podStay);
    // Of one that is being emptied a budget only delays the rest.
    if (obstacle !== undefined || !node.group || isEmptying(node)) return obstacle;
    if ((spares.get(node.group) ?? 0) <= 0) return `its group ${node.group.policy.name} is at its least size`;
    return budgetObstacleOf(node, podStay);
  }

  function placeAll(node: SurveyedNode): string | undefined {
    const room = own.get(node);
    const unplaced = room && emptying.empty(room, toMove(node));
    return unplaced && `${unplaced.key} fits on no other node that has pods`;
  }

  function moveOf(pod: PodFact): PodMove[] {
    const to = emptying.placeOf(pod)?.name;
    return to === undefined ? [] : [{ pod, to }];
  }

  return {
    nodes: survey.nodes
      .filter((node) => isEmptying(node) || (takesPods(node) && toMove(node).length > 0))
      .toSorted(byOrder),
    consider(node) {
      const obstacle = refusalOf(node) ?? placeAll(node);
      if (obstacle !== undefined) return void kept.set(node.fact.name, obstacle);
      emptied.push(node);
      if (node.group && !isEmptying(node)) spares.set(node.group, (spares.get(node.group) ?? 0) - 1);
    },
    plan() {
      const worth = worthEmptying(emptied, input);
      const unneeded = emptied.slice(worth).map(({ fact }) => [fact.name, 'once empty it would be kept'] as const);
      return {
        freed: emptied.slice(0, worth).map((node) => ({ node, moves: toMove(node).flatMap(moveOf) })),
        kept: new Map([...kept, ...unneeded]),
      };
    },
  };
}
