// A provisioner at one moment: its nodes with what runs on them, and the machines that are not nodes yet. Pure.
import { MINUTE_MS } from '#core/clock.ts';
import type { AskedNodes, NodeGroupRow, NodePhase } from '#core/node.ts';
import type { NodeGroupState, NodeInstance, NodeRequest, NodeTemplate } from '#core/node-group.ts';
import type { NodeFact, PodFact } from './cluster-objects.ts';
import { DELETION_TAINT, GPU_RESOURCES, KEPT_IDLE_TAINT, POOL_LABEL } from './objects.ts';
import type { PodStay } from './pod-stay.ts';
import type { GroupPolicy, Policy } from './policy.ts';
import { rotatingNodes } from './rotation-due.ts';
import type { NodeAccount } from './section.ts';

/** A group of the provisioner that could be read. */
export interface SeenGroup {
  readonly id: string;
  readonly account: NodeAccount;
  readonly policy: GroupPolicy;
  readonly state: NodeGroupState;
  readonly hasQueue: boolean;
  readonly row: NodeGroupRow | undefined;
}

export interface SurveyInput {
  readonly name: string;
  readonly now: number;
  readonly policy: Policy;
  /** Nodes with the label of the provisioner. */
  readonly nodes: readonly NodeFact[];
  /** All others. */
  readonly otherNodes: readonly NodeFact[];
  readonly podsOn: (node: string) => readonly PodFact[];
  readonly groups: readonly SeenGroup[];
  /** By uid: nodes whose machines are being deleted, though they are still there. */
  readonly leaving: ReadonlySet<string>;
  readonly podStay: PodStay;
  /** By uid: nodes whose end does not hold others back. */
  readonly letGo: ReadonlySet<string>;
}

export interface SurveyedNode {
  readonly fact: NodeFact;
  readonly phase: NodePhase;
  /** Undefined: its machine is in none of the groups. */
  readonly group?: SeenGroup | undefined;
  readonly instance?: NodeInstance | undefined;
  /** Those that do not go with the node, and have not ended. */
  readonly pods: readonly PodFact[];
  /** Those that go with it. */
  readonly ofNode: readonly PodFact[];
  readonly gpus: number;
  readonly gpusRequested: number;
  readonly endsAt?: number | undefined;
}

/** A machine that was asked for and is no node yet. */
export interface ComingMachine {
  readonly group: SeenGroup;
  readonly name: string;
}

/** Machines or requests that will not become nodes. */
export interface LostCapacity {
  readonly group: SeenGroup;
  readonly why: 'never-registered' | 'no-capacity' | 'waited-too-long';
  readonly instances: readonly NodeInstance[];
  readonly requests: readonly NodeRequest[];
  readonly message: string;
}

export interface NodeSurvey {
  readonly gpu: string;
  readonly podStay: PodStay;
  /** What new nodes of each group have, by its id. */
  readonly templates: ReadonlyMap<string, NodeTemplate>;
  readonly nodes: readonly SurveyedNode[];
  readonly coming: readonly ComingMachine[];
  readonly lost: readonly LostCapacity[];
  /** Nodes whose machines are in its groups, and that do not bear its label; `isAsked`: we have asked for it lately. */
  readonly unlabelled: readonly { readonly fact: NodeFact; readonly isAsked: boolean }[];
  /** Machines that never became nodes and that we did not ask for: they are named, and left alone. */
  readonly unknown: readonly string[];
  /** How many have turned NotReady: more than 30 percent and at least three of them hold everything that takes away. */
  readonly turnedUnready: number;
}

const HOSTNAME = 'kubernetes.io/hostname';
/** A node that has once been ready was so for a while. */
const BOOT_MS = 60_000;
const NO_STOCK = ['exhausted', 'quota'];

export const gpuOf = (
  { gpuResource }: Policy,
  amounts: readonly Readonly<Record<string, number>>[],
): string | undefined => gpuResource ?? GPU_RESOURCES.find((name) => amounts.some((one) => (one[name] ?? 0) > 0));

export const hasLeft = ({ isEnded, isDeleted }: PodFact): boolean => isEnded || isDeleted;

const gpusOf = (gpu: string, pods: readonly PodFact[]): number =>
  pods.reduce((sum, pod) => sum + (pod.class.requests[gpu] ?? 0), 0);

/** It was tainted so that its pods move to other nodes. */
export const isToEmpty = ({ deletionAt, deletionReason }: NodeFact): boolean =>
  deletionAt !== undefined && deletionReason === DEFRAGMENTED;

/** The reason of its taint where a node is emptied to save it. */
export const DEFRAGMENTED = 'defragmented';

/** It was tainted so that smaller pods leave it for a larger one. */
export const isForRoom = ({ deletionAt, deletionReason }: NodeFact): boolean =>
  deletionAt !== undefined && deletionReason === ROOM_NEEDED;

/** The reason of its taint then. */
export const ROOM_NEEDED = 'room-needed';

/** Its pods are moved so that it can go. */
export const isEmptying = ({ phase, fact }: SurveyedNode): boolean => phase === 'emptying' && isToEmpty(fact);

interface PhaseInput {
  readonly fact: NodeFact;
  readonly pods: readonly PodFact[];
  readonly gpus: number;
  readonly template: NodeTemplate | undefined;
}

/** Without regard to its end. */
function phaseOf({ fact, pods, gpus, template }: PhaseInput, { now, policy }: SurveyInput): NodePhase {
  const isYoung = now - fact.createdAt < policy.registrationMs;
  if (!fact.isReady || gpus === 0) return isYoung ? 'coming' : 'unready';
  if (fact.deletionAt !== undefined)
    return (isToEmpty(fact) || isForRoom(fact)) && pods.length > 0 ? 'emptying' : 'tainted';
  if (fact.isCordoned) return 'unready';
  // Drivers and networks hold a new node back by taints of their own until they are up.
  const known = new Set(template?.taints.map(({ key }) => key));
  const isHeldBack = fact.taints.some(({ key, effect }) => effect !== 'PreferNoSchedule' && !known.has(key));
  return isYoung && isHeldBack && template ? 'coming' : 'ready';
}

/** The template of the cloud, corrected by what a node of the group really has. */
function learnedTemplate(name: string, { state }: SeenGroup, nodes: readonly NodeFact[], gpu: string): NodeTemplate {
  const { template } = state;
  const example = nodes.find(({ isReady, allocatable }) => isReady && (allocatable[gpu] ?? 0) > 0);
  return {
    ...template,
    allocatable: example?.allocatable ?? template.allocatable,
    labels: { ...template.labels, ...commonLabels(nodes), [POOL_LABEL]: name },
  };
}

/** Labels by which its nodes differ, such as the zone of a regional group, say nothing about the next one. */
function commonLabels([first, ...others]: readonly NodeFact[]): Readonly<Record<string, string>> {
  const labels = Object.entries(first?.labels ?? {});
  return Object.fromEntries(
    labels.filter(([key, value]) => key !== HOSTNAME && others.every((other) => other.labels[key] === value)),
  );
}

const nodeOf = (instance: NodeInstance, byId: ReadonlyMap<string, NodeFact>): NodeFact | undefined =>
  byId.get(instance.providerId) ?? byId.get(instance.name);

/** Whether we have asked for it: by its name, or where clouds only count, by the time. */
function isOurs({ name, createdAt }: NodeInstance, asked: readonly AskedNodes[]): boolean {
  return asked.some(({ names, at }) => (names ? names.includes(name) : createdAt >= at));
}

const isWithoutStock = (trouble: NodeInstance['trouble']): boolean =>
  trouble !== undefined && (trouble.final || NO_STOCK.includes(trouble.kind));

type MachineFate = 'coming' | 'failed' | 'late' | 'unknown';

const NO_LABEL_MS = 2 * MINUTE_MS;

/** Some clouds set labels of a node only after it has registered. */
const isStillUnlabelled = ({ createdAt }: NodeFact, now: number): boolean => now - createdAt < NO_LABEL_MS;

/** What becomes of a machine that is no node yet. */
function fateOf(instance: NodeInstance, asked: readonly AskedNodes[], { now, policy }: SurveyInput): MachineFate {
  const { state, trouble, createdAt } = instance;
  if (state === 'failed' || (state === 'creating' && isWithoutStock(trouble))) return 'failed';
  if (now - createdAt < policy.registrationMs) return 'coming';
  return isOurs(instance, asked) ? 'late' : 'unknown';
}

/** What was asked for and no listing shows yet. */
export const unseenOf = ({ row, state }: SeenGroup): number =>
  Math.max(0, ...(row?.asked ?? []).filter(({ isAnswered }) => !isAnswered).map(({ to }) => to - state.wanted));

function machinesOf(
  group: SeenGroup,
  byId: ReadonlyMap<string, NodeFact>,
  others: ReadonlyMap<string, NodeFact>,
  input: SurveyInput,
) {
  const { state, row } = group;
  const { now, policy } = input;
  const found: Record<MachineFate, NodeInstance[]> = { coming: [], failed: [], late: [], unknown: [] };
  const unlabelled: NodeSurvey['unlabelled'][number][] = [];
  for (const instance of state.instances) {
    if (instance.state === 'deleting' || nodeOf(instance, byId)) continue;
    const other = nodeOf(instance, others);
    const isAsked = isOurs(instance, row?.asked ?? []);
    if (other && isAsked && isStillUnlabelled(other, now)) found.coming.push(instance);
    else if (other) unlabelled.push({ fact: other, isAsked });
    else found[fateOf(instance, row?.asked ?? [], input)].push(instance);
  }
  const waitMs = group.policy.flexStart?.waitMs ?? policy.registrationMs;
  const isOver = (request: NodeRequest): boolean => request.state === 'failed' || now - request.createdAt >= waitMs;
  const waited = state.requests.filter((request) => !isOver(request));
  const names = [
    ...found.coming.map(({ name }) => name),
    ...waited.flatMap(({ id, count, names: own = [] }) => numbered(count, (at) => own[at] ?? `${id}-${at}`)),
    ...numbered(unseenOf(group), (at) => `${group.policy.name}-asked-${at}`),
  ];
  return {
    coming: names.map((name): ComingMachine => ({ group, name })),
    unknown: found.unknown.map(({ name }) => name),
    unlabelled,
    late: found.late,
    failed: found.failed,
    over: state.requests.filter(isOver),
  };
}

const numbered = (count: number, name: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => name(at));

function lostOf(
  group: SeenGroup,
  { late, failed, over }: Omit<ReturnType<typeof machinesOf>, 'coming' | 'unknown' | 'unlabelled'>,
) {
  const lost: LostCapacity[] = [];
  const none = { group, instances: [], requests: [] };
  if (late.length > 0)
    lost.push({ ...none, why: 'never-registered', instances: late, message: 'Its machines never became nodes.' });
  const refused = over.filter(({ state }) => state === 'failed');
  const [first] = [...failed, ...refused].flatMap(({ trouble }) => trouble ?? []);
  if (failed.length + refused.length > 0)
    lost.push({
      ...none,
      why: 'no-capacity',
      instances: failed,
      requests: refused,
      message: first?.message ?? 'It failed.',
    });
  const waited = over.filter(({ state }) => state !== 'failed');
  if (waited.length > 0)
    lost.push({ ...none, why: 'waited-too-long', requests: waited, message: 'Its queue gave no machine in time.' });
  return lost;
}

/** By what a machine is known by. */
const indexOf = (nodes: readonly NodeFact[]): ReadonlyMap<string, NodeFact> =>
  new Map(nodes.flatMap((fact) => [[fact.providerId || fact.name, fact] as const, [fact.name, fact] as const]));

/** A node that was ready and is not any more. */
export const hasTurnedUnready = ({ isReady, readySince, createdAt }: NodeFact): boolean =>
  !isReady && readySince - createdAt >= BOOT_MS;

/** Undefined where no GPU is to be seen, neither on a node nor in a template. */
export function survey(input: SurveyInput): NodeSurvey | undefined {
  const { name, nodes: facts, groups, policy, podsOn } = input;
  const amounts = [...groups.map(({ state }) => state.template.allocatable), ...facts.map((one) => one.allocatable)];
  const gpu = gpuOf(policy, amounts);
  if (gpu === undefined) return undefined;
  const [byId, others] = [indexOf(facts), indexOf(input.otherNodes)];
  const homes = new Map<NodeFact, { readonly group: SeenGroup; readonly instance: NodeInstance }>();
  for (const group of groups) {
    for (const instance of group.state.instances) {
      const fact = nodeOf(instance, byId);
      if (fact) homes.set(fact, { group, instance });
    }
  }
  const templates = new Map(
    groups.map((group) => {
      const own = facts.filter((fact) => homes.get(fact)?.group === group);
      return [group.id, learnedTemplate(name, group, own, gpu)] as const;
    }),
  );
  const isLeaving = (fact: NodeFact): boolean =>
    input.leaving.has(fact.uid) || homes.get(fact)?.instance.state === 'deleting';
  const staying = facts.filter((fact) => !isLeaving(fact));
  const all = staying.map((fact): SurveyedNode => {
    const { group, instance } = homes.get(fact) ?? {};
    const gpus = fact.allocatable[gpu] ?? 0;
    const endsAt = fact.endsAt ?? instance?.endsAt;
    const template = group?.state.template;
    const here = podsOn(fact.name).filter(({ isEnded }) => !isEnded);
    const pods = here.filter(({ isOfNode }) => !isOfNode);
    return {
      fact,
      phase: phaseOf({ fact, pods, gpus, template }, input),
      group,
      instance,
      pods,
      ofNode: here.filter(({ isOfNode }) => isOfNode),
      gpus,
      gpusRequested: gpusOf(gpu, pods),
      endsAt,
    };
  });
  const rotating = rotatingNodes(all, input);
  const nodes = all.map((node) => (rotating.has(node) ? { ...node, phase: 'expiring' as const } : node));
  const machines = groups.map((group) => ({ group, ...machinesOf(group, byId, others, input) }));
  return {
    gpu,
    podStay: input.podStay,
    templates,
    nodes,
    coming: machines.flatMap(({ coming }) => coming),
    lost: machines.flatMap(({ group, ...rest }) => lostOf(group, rest)),
    unlabelled: machines.flatMap(({ unlabelled }) => unlabelled),
    unknown: machines.flatMap(({ unknown }) => unknown),
    turnedUnready: staying.filter((fact) => hasTurnedUnready(fact) && !input.letGo.has(fact.uid)).length,
  };
}

const MASS_COUNT = 3;
const MASS_PERCENT = 30;

/** Whether so many are NotReady at once that the cause is more likely the network or the control plane. */
export const isMassUnready = ({ turnedUnready: count, nodes }: NodeSurvey): boolean =>
  count >= MASS_COUNT && count * 100 > MASS_PERCENT * nodes.length;

/** A node in use: it has a pod that asked for GPUs. */
export const isBusy = ({ gpusRequested }: SurveyedNode): boolean => gpusRequested > 0;

/** Nothing is on it but what goes with it. */
export const isEmpty = ({ pods }: SurveyedNode): boolean => pods.length === 0;

/** It was started, and works. */
export const hasStarted = ({ phase }: SurveyedNode): boolean => ['ready', 'tainted', 'emptying'].includes(phase);

/** Nodes that are being replaced, since their machines end. */
export const expiringNodes = ({ nodes }: NodeSurvey): readonly SurveyedNode[] =>
  nodes.filter(({ phase }) => phase === 'expiring');

/** Its taints without the one by which it goes. */
export const ownTaints = ({ taints }: NodeFact) =>
  taints.filter(({ key }) => key !== DELETION_TAINT && key !== KEPT_IDLE_TAINT);
