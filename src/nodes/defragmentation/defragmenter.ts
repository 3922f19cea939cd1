// Saves nodes by moving pods: plans, looks twice, taints the nodes, then empties them. The taints are the truth: a restart
// goes on with the nodes that bear them.
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { NodePoolRow } from '#core/node.ts';
import type { PodFact } from '../cluster-objects.ts';
import type { Evaluation } from '../evaluate.ts';
import type { Decided, NodeStep } from '../next-step.ts';
import type { Peers } from '../peers.ts';
import type { Policy } from '../policy.ts';
import { REFUSED_AGAIN_MS } from '../rotation.ts';
import {
  DEFRAGMENTED,
  isEmpty,
  isEmptying,
  isForRoom,
  isToEmpty,
  type NodeSurvey,
  ROOM_NEEDED,
  type SeenGroup,
  type SurveyedNode,
} from '../survey.ts';
import { some } from '../words.ts';
import { affordable, budgetLeft, evictionsLeft } from './hourly-budget.ts';
import { emptyingNodes, nextEvictions } from './next-eviction.ts';
import type { DefragPlan, FreedNode } from './planner.ts';
import { planInSlices } from './planning.ts';
import { type RoomInput, roomGoesOn, roomToMake } from './room-maker.ts';

export interface DefragInput {
  readonly name: string;
  readonly policy: Policy;
  readonly survey: NodeSurvey;
  readonly evaluation: Evaluation;
  readonly groups: readonly SeenGroup[];
  readonly row: NodePoolRow;
  /** By uid of a pod: when its budget refused last. */
  readonly refusedAt: ReadonlyMap<string, number>;
  /** Pods that wait and that it must serve. */
  readonly pending: readonly PodFact[];
}

export type DefragActing = Pick<Decided, 'step' | 'reason' | 'note' | 'dueAt'>;

export interface Defragmenter {
  /** What is done next; to be asked where nothing else is to be done. */
  next(input: DefragInput): Promise<Partial<DefragActing>>;
  /** These nodes could not be emptied: they are not begun again within the hour. */
  gaveUp(nodes: readonly SurveyedNode[]): void;
  forget(name: string): void;
}

/** What a plan finds must still hold after this; where it finds nothing, it is made again after AGAIN_MS. */
const SETTLE_MS = 15 * SECOND_MS;
const AGAIN_MS = MINUTE_MS;

interface Look {
  readonly at: number;
  readonly found: ReadonlySet<string>;
}

/** The same node with the same pods. */
const markOf = ({ node, moves }: Pick<FreedNode, 'node' | 'moves'>): string =>
  [node.fact.uid, ...moves.map(({ pod }) => pod.uid).toSorted()].join(' ');

/** Nothing comes, and nothing waits. */
const isCalm = ({ survey, evaluation }: DefragInput): boolean =>
  evaluation.quantities.pendingPods === 0 &&
  survey.coming.length === 0 &&
  evaluation.nodes <= evaluation.quantities.nodes &&
  survey.nodes.every(({ phase, fact }) => phase !== 'coming' && !isToEmpty(fact));

/** Pods wait, nothing comes for them, and none of them has a place. */
const isInNeed = ({ survey, evaluation: { packing, quantities } }: DefragInput): boolean =>
  quantities.pendingPods > 0 &&
  survey.coming.length === 0 &&
  survey.nodes.every(({ phase, fact }) => phase !== 'coming' && !isToEmpty(fact)) &&
  [...packing.placed.values()].every(({ kind }) => kind === 'new');

/** The scheduler must not prefer nodes that are idle, as it does where it spreads pods. */
const idleNodes = ({ nodes }: NodeSurvey): readonly SurveyedNode[] =>
  nodes.filter((node) => node.phase === 'ready' && isEmpty(node));

export function openDefragmenter(clock: Clock, peers: Pick<Peers, 'otherRooms' | 'takers'>): Defragmenter {
  const looks = new Map<string, Look>();
  /** By uid of a node: when it was put back. It is not begun again within the hour. */
  const putBackAt = new Map<string, number>();

  const mayBegin = ({ fact }: SurveyedNode): boolean => clock.now() - (putBackAt.get(fact.uid) ?? 0) >= HOUR_MS;

  function putBack(nodes: readonly SurveyedNode[], { kept }: DefragPlan): Partial<DefragActing> {
    const note = nodes
      .flatMap(({ fact }) => kept.get(fact.name) ?? [])
      .slice(0, 3)
      .join('; ');
    return { step: { do: 'untaint', nodes }, reason: { code: 'not-emptied' }, note };
  }

  /** The nodes that are being emptied are looked at again before each eviction, since the scheduler chooses where pods go. */
  async function goOn(input: DefragInput): Promise<Partial<DefragActing>> {
    const begun = emptyingNodes(input.survey);
    // A pod that waits may be one that was moved.
    if (input.evaluation.quantities.pendingPods > 0) return {};
    const plan = await planInSlices(clock, input, peers, isEmptying);
    const planned = new Set(plan.freed.map(({ node }) => node));
    const lost = begun.filter((node) => !planned.has(node));
    if (lost.length > 0) return putBack(lost, plan);
    const evictions = nextEvictions({ ...input, now: clock.now(), plan });
    if (evictions.length === 0) return { dueAt: clock.now() + SETTLE_MS };
    return { step: { do: 'evict', evictions, why: 'defragmentation' }, reason: { code: 'defragmented' } };
  }

  async function begin(input: DefragInput): Promise<Partial<DefragActing>> {
    const { name, row, policy, survey } = input;
    const now = clock.now();
    const budget = budgetLeft(row, policy, survey, now);
    const look = looks.get(name);
    const nextAt = look && look.at + (look.found.size > 0 ? SETTLE_MS : AGAIN_MS);
    if (budget.nodes === 0 || budget.evictions === 0) return {};
    if (nextAt !== undefined && nextAt > now) return { dueAt: nextAt };
    const plan = await planInSlices(clock, input, peers, mayBegin);
    const chosen = affordable(plan.freed, budget);
    const settled = chosen.filter((one) => look?.found.has(markOf(one)));
    if (settled.length > 0) {
      looks.delete(name);
      const nodes = settled.map(({ node }) => node);
      const step: NodeStep = { do: 'empty', nodes, idle: idleNodes(survey), why: DEFRAGMENTED };
      return { step, reason: { code: 'defragmented' } };
    }
    looks.set(name, { at: now, found: new Set(chosen.map(markOf)) });
    return chosen.length > 0 ? { dueAt: now + SETTLE_MS } : {};
  }

  const roomInput = (input: DefragInput): RoomInput => ({
    ...input,
    others: peers.otherRooms(input.name),
    takers: peers.takers(),
  });

  /** What is found must still hold after a while, as with plans. */
  function beginRoom(input: DefragInput): Partial<DefragActing> {
    const { name, row, policy, survey } = input;
    const now = clock.now();
    const budget = budgetLeft(row, policy, survey, now);
    const look = looks.get(name);
    if (budget.nodes === 0) return {};
    if (look && look.at + SETTLE_MS > now) return { dueAt: look.at + SETTLE_MS };
    const made = roomToMake(roomInput(input), mayBegin);
    if (!made || made.moves.length > budget.evictions) return {};
    const mark = `${made.pod.uid} ${markOf(made)}`;
    if (!look?.found.has(mark)) {
      looks.set(name, { at: now, found: new Set([mark]) });
      return { dueAt: now + SETTLE_MS };
    }
    looks.delete(name);
    const note = `${some(made.moves.length, 'pod')} of ${made.node.fact.name} move for ${made.pod.key}`;
    const step: NodeStep = { do: 'empty', nodes: [made.node], idle: [], why: ROOM_NEEDED };
    return { step, reason: { code: 'room-needed' }, note };
  }

  function goOnWithRoom(input: DefragInput): Partial<DefragActing> {
    const { evictions, vain } = roomGoesOn(roomInput(input));
    if (vain.length > 0) return { step: { do: 'untaint', nodes: vain }, reason: { code: 'not-emptied' } };
    const mayAsk = ({ uid }: PodFact): boolean => clock.now() - (input.refusedAt.get(uid) ?? 0) >= REFUSED_AGAIN_MS;
    const asked = evictions.map(({ node, pods }) => ({ node, pods: pods.filter(mayAsk) }));
    const left = evictionsLeft(input.row, input.policy, clock.now());
    const due = asked.filter(({ pods }) => pods.length > 0 && pods.length <= left);
    if (due.length === 0) return { dueAt: clock.now() + SETTLE_MS };
    return { step: { do: 'evict', evictions: due, why: 'defragmentation' }, reason: { code: 'room-needed' } };
  }

  return {
    async next(input) {
      const { name, survey, policy } = input;
      if (policy.defragmentation.mode === 'act' && survey.nodes.some(({ fact }) => isForRoom(fact)))
        return goOnWithRoom(input);
      if (policy.defragmentation.mode === 'act' && emptyingNodes(survey).length > 0) return goOn(input);
      const isDone = survey.nodes.every(({ fact }) => !isToEmpty(fact));
      const idle = survey.nodes.filter(({ fact }) => fact.isKeptIdle);
      if (isDone && idle.length > 0) return { step: { do: 'untaint', nodes: idle }, reason: { code: 'emptying-done' } };
      if (policy.defragmentation.mode === 'act' && isCalm(input)) return begin(input);
      if (policy.defragmentation.mode === 'act' && isInNeed(input)) return beginRoom(input);
      looks.delete(name);
      return {};
    },
    gaveUp(nodes) {
      for (const [uid, at] of putBackAt) if (clock.now() - at >= HOUR_MS) putBackAt.delete(uid);
      for (const { fact } of nodes) putBackAt.set(fact.uid, clock.now());
    },
    forget: (name) => void looks.delete(name),
  };
}
