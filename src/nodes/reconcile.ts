// One pass over a NodeProvisioner: look, decide, do one thing, say so. Every pass reads the world afresh, so that a restart
// goes on where it was.
import type { Gate } from '#clouds/gate.ts';
import type { OpenKinds } from '#clouds/open-kinds.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { type Loop, type PassResult, startLoop } from '#core/loop.ts';
import type { NodePoolRow } from '#core/node.ts';
import type { NodeGroups } from '#core/node-group.ts';
import { problemText } from '#core/problem.ts';
import type { Random } from '#core/random.ts';
import { type Change, drop, put, type Store } from '#core/store.ts';
import { FLEET } from '#core/worker.ts';
import type { Journal } from '#journal/journal.ts';
import type { KubeObject } from '#kube/object.ts';
import { type AccountRooms, accountRooms, withAsked } from './account-rooms.ts';
import { type NodeFact, podReader } from './cluster-objects.ts';
import type { ClusterView } from './cluster-view.ts';
import { evaluate } from './evaluate.ts';
import type { GrowthPart } from './growth.ts';
import { openKnownGroups } from './known-groups.ts';
import { type Decided, nextNodeStep, type StepInput } from './next-step.ts';
import { openNodeWrites } from './node-writes.ts';
import { NODE_POOLS, SERVED_BY } from './objects.ts';
import { claimPods, setAsideNow } from './pending-pods.ts';
import { isPolicy, type Policy, readPolicy } from './policy.ts';
import { nodePoolSubject } from './reasons.ts';
import type { NodesSettings } from './section.ts';
import { addTo, openPodRoom, type PodRoom } from './simulation/room.ts';
import type { Snapshot } from './snapshot.ts';
import { statusOfNodePool } from './status.ts';
import { openSteps, type StepContext } from './steps.ts';
import { type NodeSurvey, type SeenGroup, survey } from './survey.ts';
import { didOf, unlessOf, whySize } from './words.ts';

export interface NodeReconcileDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly gate: Gate;
  readonly hosts: OpenKinds<NodeGroups>;
  readonly view: ClusterView;
  readonly settings: NodesSettings;
}

export interface NodeReconciling extends Loop {
  readonly snapshots: ReadonlyMap<string, Snapshot>;
}

/** A pass at least this often; nothing destructive on a view older than FRESH_MS. */
const RESYNC_MS = 30 * SECOND_MS;
const FRESH_MS = 10 * SECOND_MS;
const AFTER_ACTION_MS = SECOND_MS;
const WRITE_TIMEOUT_MS = 30 * SECOND_MS;

export function startNodeReconciling(deps: NodeReconcileDeps): NodeReconciling {
  const { store, clock, log, journal, gate, hosts, view, settings } = deps;
  const snapshots = new Map<string, Snapshot>();
  /** By provisioner and uid of a pod: since when it has fitted on a ready node. */
  const fitting = new Map<string, Map<string, number>>();
  const cordonedAt = new Map<string, number>();
  const leaving = new Set<string>();
  const known = openKnownGroups({ store, clock, hosts, view, settings, snapshots });
  const account = view.access.id;
  const writes = openNodeWrites({ kube: view.kube, gate, account }, podReader());
  const steps = openSteps({ ...deps, writes, cordonedAt, leaving });

  const objects = (): KubeObject[] => [...view.provisioners.all().values()];
  const age = ({ metadata }: KubeObject): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;

  function patch(
    name: string,
    at: { readonly subresource?: string },
    merge: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) {
    const call = {
      name: 'patch provisioner',
      is: 'write',
      account,
      owner: name,
      timeoutMs: WRITE_TIMEOUT_MS,
      signal,
    } as const;
    return gate.call(call, (ending) => view.kube.patch(NODE_POOLS, { name, ...at }, { merge }, ending));
  }

  /** Takes our taints off nodes whose provisioner is gone, and forgets what was kept about it. */
  async function forget(name: string, signal: AbortSignal): Promise<void> {
    snapshots.delete(name);
    known.forget(name);
    fitting.delete(name);
    for (const fact of view.nodes.all().values()) {
      if (fact.provisioner === name && (fact.deletionAt !== undefined || fact.cordonedByUs))
        await writes.untaint(fact, signal);
    }
    const rows = [...store.view.nodeGroups.by('provisioner', name)].map(({ id }) => drop('nodeGroups', id));
    const own = store.view.nodePools.get(name) ? [drop('nodePools', name)] : [];
    if (rows.length + own.length > 0) await store.commit([...rows, ...own]);
  }

  /** Whether the object is ours to serve; takes it where nobody does. */
  async function isOurs({ metadata }: KubeObject, signal: AbortSignal): Promise<boolean> {
    const by = metadata.annotations?.[SERVED_BY];
    if (by !== undefined) return by === store.cluster;
    const { name, resourceVersion } = metadata;
    // Of two that take it at once the API server refuses one.
    await patch(name, {}, { metadata: { resourceVersion, annotations: { [SERVED_BY]: store.cluster } } }, signal);
    return true;
  }

  /** The nodes of others, whose pods are neighbours. */
  function otherRooms(name: string): readonly PodRoom[] {
    return [...view.nodes.all().values()]
      .filter((fact) => fact.provisioner !== name)
      .map((fact) => {
        const room = openPodRoom({ ...fact, kind: 'ready' });
        for (const pod of view.podsOn(fact.name)) if (!pod.isEnded) addTo(room, pod.class);
        return room;
      });
  }

  /** The provisioners before it, or undefined while one of them has not been looked at. */
  function earlierThan(object: KubeObject): readonly Snapshot[] | undefined {
    const before = objects().filter((other) => age(other) < age(object));
    const seen = before.flatMap(({ metadata }) => snapshots.get(metadata.name) ?? []);
    return seen.length === before.length ? seen : undefined;
  }

  const areOthersSeen = (name: string): boolean =>
    objects().every(({ metadata }) => metadata.name === name || snapshots.has(metadata.name));

  /** The room in the accounts of its groups; none while an object that may have nodes there was not looked at. */
  function roomsOf(name: string, groups: readonly SeenGroup[]): AccountRooms {
    const others = [...snapshots.values()].filter((other) => other.name !== name);
    const rooms = accountRooms(groups, others);
    return areOthersSeen(name)
      ? rooms
      : new Map([...rooms].map(([place, room]) => [place, Number.isFinite(room) ? 0 : room]));
  }

  function rowOf(name: string): NodePoolRow {
    return store.view.nodePools.get(name) ?? { id: name, setAside: [], evictedAt: [], freedAt: [] };
  }

  /** Keeps in mind which pods fit and are refused all the same; answers whether some were set aside. */
  async function setAside(name: string, fittingNow: ReadonlySet<string>): Promise<boolean> {
    const fittingSince = fitting.get(name) ?? new Map<string, number>();
    fitting.set(name, fittingSince);
    const waiting = new Map([...view.refused()].map((pod) => [pod.uid, pod]));
    const fits = new Set([...waiting.values()].filter(({ key }) => fittingNow.has(key)).map(({ uid }) => uid));
    for (const uid of fittingSince.keys()) if (!fits.has(uid)) fittingSince.delete(uid);
    for (const uid of fits) if (!fittingSince.has(uid)) fittingSince.set(uid, clock.now());
    const row = rowOf(name);
    const next = setAsideNow(fittingSince, { known: row.setAside, waiting, now: clock.now() });
    if (next === row.setAside) return false;
    await store.commit([put('nodePools', { ...row, setAside: next })]);
    for (const { key, message } of next.filter((one) => !row.setAside.includes(one)))
      log('warn', 'pod set aside', { provisioner: name, pod: key, refusal: message });
    return true;
  }

  async function say(snapshot: Snapshot, signal: AbortSignal): Promise<void> {
    const { name, object } = snapshot;
    snapshots.set(name, snapshot);
    const status = statusOfNodePool(snapshot, journal.lastDecision(nodePoolSubject(name)), clock.now());
    if (JSON.stringify(status) === JSON.stringify(object.status)) return;
    await patch(name, { subresource: 'status' }, { status }, signal);
  }

  function decisionOf(
    name: string,
    decided: Decided,
    evaluated: ReturnType<typeof evaluate>,
    policy: Policy,
  ): Change | undefined {
    const { quantities } = evaluated;
    const decision = {
      subject: nodePoolSubject(name),
      did: didOf(decided.step),
      reason: decided.reason,
      why: whySize(evaluated, policy),
      unless: unlessOf(decided, evaluated, policy),
      alternatives: decided.alternatives,
      facts: { ...quantities, target: evaluated.nodes },
    };
    return journal.decision(decision, decided.step.do !== 'nothing');
  }

  const hold = (): StepInput['hold'] => (store.view.freezes.get(FLEET) ? { code: 'frozen' } : undefined);

  async function pass(name: string, signal: AbortSignal): Promise<PassResult> {
    const object = view.provisioners.all().get(`/${name}`);
    await view.fresh(FRESH_MS, signal);
    if (!object) return forget(name, signal);
    const blank = { name, at: clock.now(), object, groups: [], groupIds: [], pending: 0, unfit: new Map() };
    if (!(await isOurs(object, signal))) {
      snapshots.set(name, { ...blank, obstacle: { reason: 'ServedByAnother', message: 'Another Muster serves it.' } });
      return;
    }
    const policy = readPolicy(object.spec);
    if (!isPolicy(policy)) {
      const message = policy.map(problemText).join('; ');
      return say({ ...blank, obstacle: { reason: 'SpecInvalid', message } }, signal);
    }
    const found = await known.find(name, policy, signal);
    if ('reason' in found) {
      await say({ ...blank, policy, obstacle: found }, signal);
      return { afterMs: RESYNC_MS };
    }
    const groups = await known.describe(name, policy, signal);
    const base = { ...blank, policy, groups, groupIds: groups.map(({ id }) => id) };
    const refusal = groups.find(({ state }) => state.refusal)?.state.refusal;
    if (refusal) {
      const { reason, message, remedy } = refusal;
      await say({ ...base, obstacle: { reason, message: `${message} ${remedy}` } }, signal);
      return { afterMs: RESYNC_MS };
    }
    const context = {
      name,
      found,
      groups,
      rooms: () => roomsOf(name, snapshots.get(name)?.groups ?? groups),
      reserve(parts: readonly GrowthPart[]): void {
        const said = snapshots.get(name);
        if (said) snapshots.set(name, withAsked(said, parts));
      },
      reason: '',
      signal,
    };
    if (!hold() && (await steps.repeat(context))) {
      known.changed(name);
      return { afterMs: 0 };
    }
    const seen = look(name, policy, groups);
    if (!seen) {
      const message = 'Neither its nodes nor its instance template have a GPU. Set gpuResource, or name another group.';
      await say({ ...base, obstacle: { reason: 'NoGPUInTemplate', message } }, signal);
      return { afterMs: RESYNC_MS };
    }
    return decide(base, { policy, seen, context });
  }

  /** Forgets nodes that are gone, and sees those that another process has cordoned: they wait anew. */
  function trackLeaving(nodes: readonly NodeFact[]): void {
    const there = new Set(nodes.map(({ uid }) => uid));
    for (const known of [leaving, cordonedAt]) for (const uid of known.keys()) if (!there.has(uid)) known.delete(uid);
    const isNew = ({ uid, cordonedByUs, deletionAt }: NodeFact): boolean =>
      cordonedByUs && deletionAt !== undefined && !cordonedAt.has(uid);
    for (const { uid } of nodes.filter(isNew)) cordonedAt.set(uid, clock.now());
  }

  function look(name: string, policy: Policy, groups: readonly SeenGroup[]): NodeSurvey | undefined {
    const all = [...view.nodes.all().values()];
    trackLeaving(all);
    const nodes = all.filter(({ provisioner }) => provisioner === name);
    return survey({ name, now: clock.now(), policy, nodes, podsOn: view.podsOn, groups, leaving });
  }

  /** What it should have, and what to do about it now. */
  function judge(base: Snapshot, { policy, seen }: Deciding, earlier: readonly Snapshot[] | undefined) {
    const { name, groups, at: now } = base;
    const claim = claimPods({
      survey: seen,
      // Until those before it have been looked at, it is not known which pods are theirs.
      refused: earlier ? view.refused() : [],
      setAside: rowOf(name).setAside,
      groups,
      earlier: earlier ?? [],
      now,
    });
    const rooms = roomsOf(name, groups);
    const evaluation = evaluate({
      survey: seen,
      policy,
      groups,
      pending: claim.pending,
      others: otherRooms(name),
      rooms,
    });
    const decided = nextNodeStep({ now, policy, survey: seen, groups, rooms, evaluation, cordonedAt, hold: hold() });
    return { claim, evaluation, decided };
  }

  async function decide(base: Snapshot, deciding: Deciding): Promise<PassResult> {
    const { name, object } = base;
    const { context, policy, seen } = deciding;
    const { signal } = context;
    const earlier = earlierThan(object);
    const { claim, evaluation, decided } = judge(base, deciding, earlier);
    const snapshot = { ...base, survey: seen, evaluation, decided, pending: claim.pending.length, unfit: claim.unfit };
    // Nothing is awaited between the look at the room in the accounts and this.
    snapshots.set(name, snapshot);
    if (decided.step.do === 'grow') context.reserve(decided.step.parts);
    if (await setAside(name, evaluation.fitting)) return { afterMs: 0 };
    const change = decisionOf(name, decided, evaluation, policy);
    if (change) await store.commit([change]);
    const isActing = decided.step.do !== 'nothing';
    if (isActing) {
      await view.fresh(FRESH_MS, signal);
      known.changed(name);
      await steps.carryOut(decided.step, { ...context, reason: decided.reason.code });
    }
    await say(snapshots.get(name) ?? snapshot, signal);
    const dueMs = decided.dueAt === undefined ? RESYNC_MS : decided.dueAt - clock.now();
    const soonMs = isActing || !areOthersSeen(name) ? AFTER_ACTION_MS : RESYNC_MS;
    return { afterMs: Math.max(0, Math.min(soonMs, dueMs)) };
  }

  const loop = startLoop({
    name: 'nodes',
    clock,
    random: deps.random,
    log,
    reconcile: pass,
    logged: (provisioner) => ({ provisioner }),
    failed(name, { message }) {
      const object = view.provisioners.all().get(`/${name}`);
      const before = snapshots.get(name);
      if (!object || before) return;
      const obstacle = { reason: 'Unreachable', message } as const;
      snapshots.set(name, {
        name,
        at: clock.now(),
        object,
        groups: [],
        groupIds: [],
        pending: 0,
        unfit: new Map(),
        obstacle,
      });
    },
  });
  return { ...loop, snapshots };
}

interface Deciding {
  readonly policy: Policy;
  readonly seen: NodeSurvey;
  readonly context: StepContext;
}
