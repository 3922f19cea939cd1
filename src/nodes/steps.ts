// Carries out one step. What asks a cloud for something is committed before the cloud is called.
import type { OpenKinds } from '#clouds/open-kinds.ts';
import type { Clock } from '#core/clock.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { Log } from '#core/log.ts';
import type { AskedNodes, NodeGroupRow } from '#core/node.ts';
import type { NodeGroup, NodeGroups } from '#core/node-group.ts';
import type { Random } from '#core/random.ts';
import { put, type Store } from '#core/store.ts';
import type { AccountRooms } from './account-rooms.ts';
import type { PodFact } from './cluster-objects.ts';
import { withoutEvictions } from './defragmentation/hourly-budget.ts';
import { chosenAccount, type FoundGroup } from './group-finder.ts';
import { type GrowthPart, type NodeNeed, nextBackoff, planGrowth } from './growth.ts';
import type { NodeStep } from './next-step.ts';
import type { NodeWrites } from './node-writes.ts';
import { poolRowOf } from './pool-row.ts';
import { REFUSED_AGAIN_MS } from './rotation.ts';
import type { LostCapacity, SeenGroup, SurveyedNode } from './survey.ts';

export interface StepDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly hosts: OpenKinds<NodeGroups>;
  readonly writes: NodeWrites;
  /** By uid. */
  readonly cordonedAt: Map<string, number>;
  /** By uid: nodes whose machines are being deleted. */
  readonly leaving: Set<string>;
  /** By uid of a pod: when its budget refused last. */
  readonly refusedAt: Map<string, number>;
}

export interface StepContext {
  readonly name: string;
  readonly found: readonly FoundGroup[];
  readonly groups: readonly SeenGroup[];
  /** The room in the accounts as it is now. */
  rooms(): AccountRooms;
  /** From now on passes over other objects count these machines. */
  reserve(parts: readonly GrowthPart[]): void;
  /** Since when the first pod waits for which groups grow. */
  readonly neededSince?: number | undefined;
  /** Why, for the annotation of nodes that go. */
  readonly reason: string;
  readonly signal: AbortSignal;
}

const SUFFIX_LENGTH = 4;

type EvictStep = Extract<NodeStep, { do: 'evict' }>;

export function openSteps(deps: StepDeps) {
  const { store, clock, random, log, hosts, writes, cordonedAt, leaving, refusedAt } = deps;

  function callGroup<T>(
    group: SeenGroup,
    context: StepContext,
    name: string,
    run: (it: NodeGroup, s: AbortSignal) => Promise<T>,
  ) {
    const there = context.found.find((one) => one.group.id === group.id);
    if (!there) throw new Fault('internal', `The group ${group.policy.name} was not found.`);
    const by = { name, is: 'write', owner: context.name, signal: context.signal } as const;
    return hosts.call(chosenAccount(there.account), by, (_groups, ending) => run(there.group, ending));
  }

  const rowOf = ({ id, policy }: SeenGroup, provisioner: string): NodeGroupRow =>
    store.view.nodeGroups.get(id) ?? { id, name: policy.name, provisioner, asked: [] };

  const keep = (row: NodeGroupRow): Promise<void> => store.commit([put('nodeGroups', row)]);

  function askedFor({ group, count }: GrowthPart, { neededSince }: StepContext): AskedNodes {
    const { wanted, baseName } = group.state;
    const id = shortId(random);
    const named = Array.from({ length: count }, () => `${baseName}-${shortId(random, SUFFIX_LENGTH)}`);
    return {
      id,
      count,
      to: wanted + count,
      names: baseName === undefined ? undefined : named,
      runForMs: group.policy.flexStart?.runForMs,
      at: clock.now(),
      neededSince,
      isAnswered: false,
    };
  }

  async function backOff(
    group: SeenGroup,
    context: StepContext,
    why: string,
    more: Partial<NodeGroupRow> = {},
  ): Promise<void> {
    const row = { ...rowOf(group, context.name), ...more };
    log('warn', 'node group does not grow', { provisioner: context.name, group: group.policy.name, error: why });
    await keep({ ...row, backoff: nextBackoff(row.backoff, why, clock.now()) });
  }

  /** Sends a growth that is committed; false: its cloud refused it. */
  async function send(group: SeenGroup, asked: AskedNodes, context: StepContext): Promise<boolean> {
    const without = (): AskedNodes[] => rowOf(group, context.name).asked.filter(({ id }) => id !== asked.id);
    const { at: _at, neededSince: _neededSince, isAnswered: _isAnswered, ...growth } = asked;
    try {
      await callGroup(group, context, 'grow', (it, signal) => it.grow(growth, signal));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      // Whether it was carried out is not known: the same growth is repeated.
      if (isUnclear(fault.kind)) throw fault;
      await backOff(group, context, fault.message, { asked: without() });
      return false;
    }
    await keep({ ...rowOf(group, context.name), asked: [...without(), { ...asked, isAnswered: true }] });
    return true;
  }

  async function grow(parts: readonly GrowthPart[], context: StepContext): Promise<void> {
    const refused: NodeNeed[] = [];
    const tried = new Set<string>();
    for (const part of parts) {
      tried.add(part.group.id);
      const asked = askedFor(part, context);
      const row = rowOf(part.group, context.name);
      await keep({ ...row, asked: [...row.asked, asked] });
      if (!(await send(part.group, asked, context))) refused.push(...part.needs);
    }
    if (refused.length === 0) return;
    const others = context.groups.filter(({ id }) => !tried.has(id));
    const rest = planGrowth({ groups: others, needs: refused, rooms: context.rooms(), now: clock.now() });
    context.reserve(rest.parts);
    if (rest.parts.length > 0) await grow(rest.parts, { ...context, groups: others });
  }

  async function giveUp(
    { group, why, instances, requests, message }: LostCapacity,
    context: StepContext,
  ): Promise<void> {
    const ids = instances.map(({ id }) => id);
    const waiting = requests.map(({ id }) => id);
    // The back-off comes first: whatever becomes of the calls, this group is not asked again at once.
    await backOff(group, context, why === 'waited-too-long' ? 'its queue gave no machine in time' : message);
    if (waiting.length > 0) await callGroup(group, context, 'cancel', (it, signal) => it.cancel(waiting, signal));
    if (ids.length > 0) await callGroup(group, context, 'remove', (it, signal) => it.remove(ids, signal));
  }

  /** Deletes the machines of these nodes of one group; throws what was refused. */
  async function removeFrom(group: SeenGroup, nodes: readonly SurveyedNode[], context: StepContext): Promise<void> {
    const ids = nodes.flatMap(({ instance }) => instance?.id ?? []);
    if (ids.length === 0) return;
    const outcomes = await callGroup(group, context, 'remove', (it, ending) => it.remove(ids, ending));
    const refused = new Map(outcomes.flatMap(({ name, fault }) => (fault ? [[name, fault] as const] : [])));
    for (const { fact, instance } of nodes) {
      if (refused.has(instance?.id ?? '')) continue;
      leaving.add(fact.uid);
      cordonedAt.delete(fact.uid);
    }
    for (const fault of refused.values()) throw fault;
  }

  async function untaint(nodes: readonly SurveyedNode[], signal: AbortSignal): Promise<void> {
    await Promise.all(nodes.map(({ fact }) => writes.untaint(fact, signal)));
    for (const { fact } of nodes) cordonedAt.delete(fact.uid);
  }

  async function cordon(nodes: readonly SurveyedNode[], signal: AbortSignal): Promise<void> {
    await Promise.all(nodes.map(({ fact }) => writes.cordon(fact, signal)));
    for (const { fact } of nodes) cordonedAt.set(fact.uid, clock.now());
  }

  /** The last look: a pod that was bound in spite of taint and cordon keeps its node. */
  async function remove(nodes: readonly SurveyedNode[], context: StepContext): Promise<void> {
    const { signal } = context;
    const pods = await Promise.all(nodes.map(({ fact }) => writes.podsOn(fact, signal)));
    const isFilled = (_node: SurveyedNode, at: number): boolean =>
      pods[at]?.some((pod) => !pod.isOfNode && !pod.isEnded) ?? true;
    await untaint(nodes.filter(isFilled), signal);
    const empty = nodes.filter((node, at) => !isFilled(node, at));
    for (const group of context.groups) {
      const own = empty.filter((node) => node.group?.id === group.id);
      await removeFrom(group, own, context);
    }
  }

  /** Answers whether its budget let it go. */
  async function evictOne({ fact }: SurveyedNode, pod: PodFact, { name, signal }: StepContext): Promise<boolean> {
    const answer = await writes.evict(fact, pod, signal);
    if (typeof answer === 'string') return true;
    refusedAt.set(pod.uid, clock.now());
    log('info', 'pod not evicted', { provisioner: name, node: fact.name, pod: pod.key, refusal: answer.refused });
    return false;
  }

  async function evict({ evictions, why }: EvictStep, context: StepContext): Promise<void> {
    for (const [uid, at] of refusedAt) if (clock.now() - at >= REFUSED_AGAIN_MS) refusedAt.delete(uid);
    const calls = evictions.flatMap(({ node, pods }) => pods.map((pod) => evictOne(node, pod, context)));
    const refused = (await Promise.all(calls)).filter((isGone) => !isGone).length;
    if (why !== 'defragmentation' || refused === 0) return;
    await store.commit([put('nodePools', withoutEvictions(poolRowOf(store, context.name), refused))]);
  }

  return {
    /** Repeats growths that nobody answered; true: there was one. */
    async repeat(context: StepContext): Promise<boolean> {
      const unanswered = context.groups.flatMap((group) =>
        (group.row?.asked ?? []).filter(({ isAnswered }) => !isAnswered).map((asked) => ({ group, asked })),
      );
      for (const { group, asked } of unanswered) await send(group, asked, context);
      return unanswered.length > 0;
    },
    async carryOut(step: NodeStep, context: StepContext): Promise<void> {
      const { signal } = context;
      switch (step.do) {
        case 'nothing':
          return;
        case 'untaint':
          return untaint(step.nodes, signal);
        case 'cordon':
          return cordon(step.nodes, signal);
        case 'delete':
          return remove(step.nodes, context);
        case 'give-up':
          return giveUp(step.lost, context);
        case 'cancel':
          await callGroup(step.group, context, 'cancel', (it, ending) => it.cancel(step.requests, ending));
          return;
        case 'grow':
          return grow(step.parts, context);
        case 'rotate':
          await Promise.all(step.nodes.map(({ fact }) => writes.taint(fact, clock.now(), context.reason, signal)));
          return;
        case 'empty':
          // All of them before the first eviction: no pod is moved to a node that is emptied next.
          await Promise.all(step.nodes.map(({ fact }) => writes.taint(fact, clock.now(), step.why, signal)));
          await Promise.all(step.idle.map(({ fact }) => writes.keepIdle(fact, signal)));
          return;
        case 'evict':
          return evict(step, context);
        case 'taint':
          await Promise.all(step.nodes.map(({ fact }) => writes.taint(fact, step.deletionAt, context.reason, signal)));
          return;
      }
    },
  };
}

export type Steps = ReturnType<typeof openSteps>;
