// What a provisioner does next: one kind of action a pass, in a fixed order. Pure.
import { SECOND_MS } from '#core/clock.ts';
import type { Alternative, Reason } from '#core/reason.ts';
import type { AccountRooms } from './account-rooms.ts';
import { toPutBack } from './defragmentation/next-eviction.ts';
import type { Evaluation } from './evaluate.ts';
import { type GrowthPart, needsFor, planGrowth, urgentFrom } from './growth.ts';
import type { Policy } from './policy.ts';
import { nextRotation, type RotationStep } from './rotation.ts';
import { rotationAt } from './rotation-due.ts';
import {
  type DEFRAGMENTED,
  expiringNodes,
  isBusy,
  isEmpty,
  isForRoom,
  isMassUnready,
  isToEmpty,
  type LostCapacity,
  type NodeSurvey,
  type ROOM_NEEDED,
  type SeenGroup,
  type SurveyedNode,
} from './survey.ts';

export type NodeStep =
  | { readonly do: 'untaint'; readonly nodes: readonly SurveyedNode[] }
  | { readonly do: 'cordon'; readonly nodes: readonly SurveyedNode[] }
  | { readonly do: 'delete'; readonly nodes: readonly SurveyedNode[] }
  | { readonly do: 'give-up'; readonly lost: LostCapacity }
  | { readonly do: 'cancel'; readonly group: SeenGroup; readonly requests: readonly string[] }
  | { readonly do: 'grow'; readonly parts: readonly GrowthPart[] }
  | { readonly do: 'taint'; readonly nodes: readonly SurveyedNode[]; readonly deletionAt: number }
  | RotationStep
  /** `idle`: nodes that pods should not prefer meanwhile. */
  | {
      readonly do: 'empty';
      readonly nodes: readonly SurveyedNode[];
      readonly idle: readonly SurveyedNode[];
      readonly why: typeof DEFRAGMENTED | typeof ROOM_NEEDED;
    }
  | { readonly do: 'nothing' };

export interface Decided {
  readonly step: NodeStep;
  readonly reason: Reason;
  readonly alternatives: readonly Alternative[];
  /** More about the reason, for people. */
  readonly note?: string | undefined;
  /** What would be done, were nothing held. */
  readonly held?: NodeStep | undefined;
  /** When something becomes due without any event. */
  readonly dueAt?: number | undefined;
}

export interface StepInput {
  readonly now: number;
  readonly policy: Policy;
  readonly survey: NodeSurvey;
  readonly groups: readonly SeenGroup[];
  readonly rooms: AccountRooms;
  readonly evaluation: Evaluation;
  /** By uid, since when a node that is due takes no pods. */
  readonly cordonedAt: ReadonlyMap<string, number>;
  /** By uid of a pod: when its budget refused last. */
  readonly refusedAt: ReadonlyMap<string, number>;
  /** Why nothing is done at all. */
  readonly hold?: Reason | undefined;
}

/** A pod that was bound before the node stopped taking any is seen by then. */
export const CORDON_MS = 5 * SECOND_MS;

/** A cloud tells only who asks that it has no capacity. */
const LOOK_AT_COMING_MS = 5 * SECOND_MS;

const priorityOf = ({ group }: SurveyedNode): number => group?.policy.priority ?? 0;

/** Which empty node goes first: the one that ends soonest, of the group of lowest priority, unready, youngest. */
export function byVictimOrder(a: SurveyedNode, b: SurveyedNode): number {
  const never = Number.POSITIVE_INFINITY;
  const ends = (node: SurveyedNode): number => node.endsAt ?? never;
  if (ends(a) !== ends(b)) return ends(a) - ends(b);
  const unready = (node: SurveyedNode): number => (node.phase === 'unready' ? 0 : 1);
  return (
    priorityOf(b) - priorityOf(a) ||
    unready(a) - unready(b) ||
    b.fact.createdAt - a.fact.createdAt ||
    (a.fact.name < b.fact.name ? -1 : 1)
  );
}

const isTainted = ({ fact }: SurveyedNode): boolean => fact.deletionAt !== undefined;

/** Nodes that go although they should stay: pods came, or the target rose. */
function toUntaint({ survey, evaluation }: StepInput): readonly SurveyedNode[] {
  const tainted = survey.nodes.filter(({ phase }) => phase === 'tainted');
  const filled = tainted.filter((node) => !isEmpty(node));
  const empty = tainted.filter(isEmpty).toSorted(byVictimOrder);
  const surplus = Math.max(0, evaluation.quantities.nodes - evaluation.nodes);
  // The ones that would go first stay tainted.
  return [...filled, ...empty.slice(surplus)];
}

/** Nodes that are being emptied, and where pods must go that have no other place now. */
function neededAgain({ survey, evaluation }: StepInput): readonly SurveyedNode[] {
  const rooms = [...evaluation.packing.placed.values()];
  const needed = new Set(rooms.map(({ name }) => name));
  // Pods that have left one for a larger pod would come back to it, until they have their places.
  const areSettled = rooms.every(({ kind }) => kind !== 'ready');
  return survey.nodes.filter(
    ({ phase, fact }) => phase === 'emptying' && needed.has(fact.name) && (areSettled || !isForRoom(fact)),
  );
}

function dueNodes({ survey, now }: StepInput): readonly SurveyedNode[] {
  return survey.nodes
    .filter((node) => isTainted(node) && isEmpty(node) && node.group !== undefined)
    .filter(({ fact }) => (fact.deletionAt ?? now + 1) <= now);
}

/** How many of each group may go without making it smaller than its least size. */
function withinLeastSizes(nodes: readonly SurveyedNode[], tainted: readonly SurveyedNode[]): readonly SurveyedNode[] {
  const left = new Map<SeenGroup, number>();
  const leftOf = (group: SeenGroup): number => {
    const going = tainted.filter((node) => node.group === group).length;
    return left.get(group) ?? group.state.wanted - going - group.policy.minSize;
  };
  return nodes.filter(({ group }) => {
    if (!group) return false;
    const room = leftOf(group);
    left.set(group, room - 1);
    return room > 0;
  });
}

function toTaint({ survey, evaluation, now, policy }: StepInput): readonly SurveyedNode[] {
  const tainted = survey.nodes.filter(isTainted);
  const isGoing = (node: SurveyedNode): boolean =>
    node.phase === 'tainted' || (node.phase === 'emptying' && !isBusy(node));
  const inCount = tainted.filter(isGoing).length;
  const surplus = evaluation.quantities.nodes - evaluation.nodes - inCount;
  const free = survey.nodes.filter((node) => isEmpty(node) && !isTainted(node) && !node.fact.mustStay);
  const ready = free.filter(({ phase }) => phase === 'ready').toSorted(byVictimOrder);
  // One that has not been ready for long is of no use, whatever the target.
  const broken = free.filter(
    ({ phase, fact }) => phase === 'unready' && !fact.isReady && now - fact.readySince >= policy.registrationMs,
  );
  const chosen = withinLeastSizes([...broken, ...ready], tainted);
  const readyOnes = chosen.filter(({ phase }) => phase === 'ready').slice(0, Math.max(0, surplus));
  return [...chosen.filter(({ phase }) => phase !== 'ready'), ...readyOnes];
}

/** Requests that wait and are needed no longer: the group of lowest priority first. */
function toCancel({
  survey,
  groups,
  evaluation,
}: StepInput): { group: SeenGroup; requests: readonly string[] } | undefined {
  let surplus = evaluation.quantities.nodes - evaluation.nodes;
  surplus -= survey.nodes.filter(({ phase }) => phase === 'tainted').length;
  for (const group of groups.toReversed()) {
    const room = group.state.wanted - group.policy.minSize;
    const chosen: string[] = [];
    for (const { id, count, state } of group.state.requests.toReversed()) {
      if (state !== 'waiting' || count > surplus || count > room) continue;
      chosen.push(id);
      surplus -= count;
    }
    if (chosen.length > 0) return { group, requests: chosen };
  }
  return undefined;
}

function earliest(times: readonly (number | undefined)[], now: number): number | undefined {
  const due = times.filter((at): at is number => at !== undefined && at > now);
  return due.length > 0 ? Math.min(...due) : undefined;
}

function dueAtOf({ survey, groups, policy, now, cordonedAt }: StepInput): number | undefined {
  return earliest(
    [
      ...[...cordonedAt.values()].map((at) => at + CORDON_MS),
      survey.coming.length > 0 ? now + LOOK_AT_COMING_MS : undefined,
      ...survey.nodes.flatMap((node) => [node.fact.deletionAt, rotationAt(node, policy)]),
      ...groups.flatMap(({ row: { backoff } = {} }) => [backoff?.until, backoff && urgentFrom(backoff)]),
    ],
    now,
  );
}

type Acting = Pick<Decided, 'step' | 'reason'>;

/** Deleting what is due: no pods are let in first, and a while later the node goes. */
function deletion(input: StepInput): Acting | undefined {
  const { now, cordonedAt } = input;
  const due = dueNodes(input);
  const isRotated = due.some(({ phase }) => phase === 'expiring');
  const isSaved = due.every(({ fact }) => isToEmpty(fact));
  const reason: Reason = { code: isRotated ? 'ends-soon' : isSaved ? 'defragmented' : 'delay-over' };
  const open = due.filter(({ fact }) => !cordonedAt.has(fact.uid));
  if (open.length > 0) return { step: { do: 'cordon', nodes: open }, reason };
  const settled = due.filter(({ fact }) => now - (cordonedAt.get(fact.uid) ?? now) >= CORDON_MS);
  return settled.length > 0 ? { step: { do: 'delete', nodes: settled }, reason } : undefined;
}

function untainting(input: StepInput): Acting | undefined {
  const given = toPutBack(input.survey, input);
  if (given.length > 0) return { step: { do: 'untaint', nodes: given }, reason: { code: 'not-emptied' } };
  const needed = neededAgain(input);
  if (needed.length > 0) return { step: { do: 'untaint', nodes: needed }, reason: input.evaluation.reason };
  const nodes = toUntaint(input);
  if (nodes.length === 0) return undefined;
  const isFilled = nodes.some((node) => !isEmpty(node));
  return { step: { do: 'untaint', nodes }, reason: isFilled ? { code: 'pods-came' } : input.evaluation.reason };
}

function givingUp({ survey, evaluation, ...input }: StepInput): Acting | undefined {
  const [lost] = survey.lost;
  if (lost) return { step: { do: 'give-up', lost }, reason: { code: lost.why } };
  const cancel = toCancel({ survey, evaluation, ...input });
  return cancel && { step: { do: 'cancel', ...cancel }, reason: evaluation.reason };
}

function tainting(input: StepInput): Acting | undefined {
  const nodes = toTaint(input);
  if (nodes.length === 0) return undefined;
  const isBroken = nodes.some(({ phase }) => phase === 'unready');
  const deletionAt = input.now + input.policy.scaleDownDelayMs;
  const reason = isBroken ? { code: 'node-broken' } : input.evaluation.reason;
  return { step: { do: 'taint', nodes, deletionAt }, reason };
}

function rotating(input: StepInput): Acting | undefined {
  const step = nextRotation(input);
  return step && { step, reason: { code: 'ends-soon' } };
}

export function nextNodeStep(input: StepInput): Decided {
  const { survey, evaluation, groups, rooms, now, hold } = input;
  const wanted = Math.max(0, evaluation.nodes - evaluation.quantities.nodes);
  // A node that ends does not wait for the end of a back-off.
  const isUrgent = expiringNodes(survey).length > 0;
  const growth = planGrowth({ groups, needs: needsFor(wanted, evaluation.needs), rooms, now, isUrgent });
  const rest = { alternatives: growth.alternatives, dueAt: dueAtOf(input) };
  const mayTake = !isMassUnready(survey);
  const growing: Acting | undefined =
    growth.parts.length > 0 ? { step: { do: 'grow', parts: growth.parts }, reason: evaluation.reason } : undefined;
  const acting =
    untainting(input) ??
    (mayTake ? deletion(input) : undefined) ??
    givingUp(input) ??
    growing ??
    (mayTake ? (tainting(input) ?? rotating(input)) : undefined);
  if (hold) return { step: { do: 'nothing' }, reason: hold, held: acting?.step, ...rest };
  return { ...(acting ?? { step: { do: 'nothing' }, reason: whyNothing(input, growth.short) }), ...rest };
}

function whyNothing({ survey, evaluation }: StepInput, short: number): Reason {
  if (isMassUnready(survey)) return { code: 'many-not-ready' };
  if (short > 0) return { code: evaluation.reason.code === 'ends-soon' ? 'no-replacement' : 'no-group-grows' };
  return evaluation.reason;
}
