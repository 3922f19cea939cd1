// One pass over a NodeProvisioner: look, decide, do one thing, say so. Every pass reads the world afresh, so that a restart
// goes on where it was.
import type { Clouds } from '#clouds/clouds.ts';
import type { Gate } from '#clouds/gate.ts';
import type { OpenKinds } from '#clouds/open-kinds.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { type Loop, type PassResult, startLoop } from '#core/loop.ts';
import type { ShownDefragmentation } from '#core/node.ts';
import type { NodeGroups } from '#core/node-group.ts';
import type { Random } from '#core/random.ts';
import type { Reason } from '#core/reason.ts';
import { type Change, drop, type Store } from '#core/store.ts';
import { FLEET } from '#core/worker.ts';
import type { Journal } from '#journal/journal.ts';
import { withAsked } from './account-rooms.ts';
import { podReader } from './cluster-objects.ts';
import type { ClusterView } from './cluster-view.ts';
import { openDefragmenter } from './defragmentation/defragmenter.ts';
import { spentOn } from './defragmentation/hourly-budget.ts';
import { planInSlices } from './defragmentation/planning.ts';
import { shownDefragPlan } from './defragmentation/shown-plan.ts';
import { type Evaluation, neededSinceOf } from './evaluate.ts';
import type { GrowthPart } from './growth.ts';
import { type Judged, openJudge } from './judge.ts';
import { openKnownGroups } from './known-groups.ts';
import { openMadeGroups } from './made-groups.ts';
import type { Decided } from './next-step.ts';
import { openNodeWrites } from './node-writes.ts';
import { openObjectWrites } from './object-writes.ts';
import { obstacleOfLabels, obstacleOfTemplates } from './obstacles.ts';
import { openPeers } from './peers.ts';
import { openPodStay } from './pod-stay.ts';
import type { Policy } from './policy.ts';
import { openPoolGroups } from './pool-groups.ts';
import { poolRowOf } from './pool-row.ts';
import {
  blankSnapshot,
  isUnserved,
  NO_GPU,
  obstacleOfFault,
  type Prepared,
  prepare,
  type Unserved,
} from './preparation.ts';
import { nodePoolSubject } from './reasons.ts';
import type { NodesSettings } from './section.ts';
import { openSetAside } from './set-aside.ts';
import type { Snapshot } from './snapshot.ts';
import { statusOfNodePool } from './status.ts';
import { openSteps, type StepContext } from './steps.ts';
import { isMassUnready, type NodeSurvey } from './survey.ts';
import { withoutReturned } from './thaw.ts';
import { openUnaskedMachines } from './unasked-machines.ts';
import { didOf, unlessOf, whyDecided } from './words.ts';

export interface NodeReconcileDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly gate: Gate;
  readonly clouds: Pick<Clouds, 'offersOf' | 'cloudOf' | 'fault'>;
  readonly hosts: OpenKinds<NodeGroups>;
  readonly view: ClusterView;
  readonly settings: NodesSettings;
}

export interface NodeReconciling extends Loop {
  readonly snapshots: ReadonlyMap<string, Snapshot>;
  /** Which nodes moving pods would save now; undefined where no pass has seen any. */
  defragmentation(name: string): Promise<ShownDefragmentation | undefined>;
}

/** A pass at least this often; nothing destructive on a view older than FRESH_MS. */
const RESYNC_MS = 30 * SECOND_MS;
const FRESH_MS = 10 * SECOND_MS;
const AFTER_ACTION_MS = SECOND_MS;

export function startNodeReconciling(deps: NodeReconcileDeps): NodeReconciling {
  const { store, clock, log, journal, gate, hosts, view, settings } = deps;
  const snapshots = new Map<string, Snapshot>();
  const cordonedAt = new Map<string, number>();
  const leaving = new Set<string>();
  const refusedAt = new Map<string, number>();
  const known = openKnownGroups({ store, clock, hosts, view, settings, snapshots });
  const setAside = openSetAside({ store, clock, log, view });
  const peers = openPeers(view, snapshots);
  const { kube, access } = view;
  const writes = openNodeWrites({ kube, gate, account: access.id }, podReader());
  const objectWrites = openObjectWrites({ kube, gate, account: access.id, cluster: store.cluster });
  const steps = openSteps({ ...deps, writes, cordonedAt, leaving, refusedAt });
  const podStay = openPodStay({
    budgets: () => view.budgets.all().values(),
    // A worker has the name of its machine, which is the name of its pod.
    isBusyWorker: ({ key }) => store.view.sessions.count('worker', key.slice(key.indexOf('/') + 1)) > 0,
  });
  const made = openMadeGroups({ ...deps, forgetFound: known.forget });
  const poolGroups = openPoolGroups(deps);
  const unknown = openUnaskedMachines(journal);
  const defragmenter = openDefragmenter(clock, peers);
  const hold = (): Reason | undefined => (store.view.freezes.get(FLEET) ? { code: 'frozen' } : undefined);
  const judge = openJudge({ ...deps, peers, podStay, cordonedAt, leaving, refusedAt, hold });

  /** Takes our taints off nodes whose provisioner is gone, and forgets what was kept about it. */
  async function forget(name: string, signal: AbortSignal): Promise<PassResult> {
    snapshots.delete(name);
    known.forget(name);
    setAside.forget(name);
    unknown.forget(name);
    defragmenter.forget(name);
    for (const fact of view.nodes.all().values()) {
      if (fact.provisioner === name && (fact.deletionAt !== undefined || fact.cordonedByUs || fact.isKeptIdle))
        await writes.untaint(fact, signal);
    }
    if (hold()) return { afterMs: RESYNC_MS };
    await made.dropAll(name, signal);
    const rows = [...store.view.nodeGroups.by('provisioner', name)].map(({ id }) => drop('nodeGroups', id));
    const own = store.view.nodePools.get(name) ? [drop('nodePools', name)] : [];
    if (rows.length + own.length > 0) await store.commit([...rows, ...own]);
    return undefined;
  }

  async function say(snapshot: Snapshot, signal: AbortSignal): Promise<void> {
    const { name, object } = snapshot;
    snapshots.set(name, snapshot);
    const status = statusOfNodePool(snapshot, journal.lastDecision(nodePoolSubject(name)), clock.now());
    await objectWrites.writeStatus(object, status, signal);
  }

  async function sayUnserved({ unserved, isForeign, isTemporary }: Unserved, signal: AbortSignal): Promise<PassResult> {
    if (isForeign) snapshots.set(unserved.name, unserved);
    else await say(unserved, signal);
    return isTemporary && { afterMs: RESYNC_MS };
  }

  function decisionOf(name: string, decided: Decided, evaluated: Evaluation, policy: Policy): Change | undefined {
    const { quantities } = evaluated;
    const decision = {
      subject: nodePoolSubject(name),
      did: didOf(decided.step),
      reason: decided.reason,
      why: whyDecided(decided, evaluated, policy),
      unless: unlessOf(decided, evaluated, policy),
      alternatives: decided.alternatives,
      facts: { ...quantities, target: evaluated.nodes },
    };
    return journal.decision(decision, decided.step.do !== 'nothing');
  }

  function contextOf({ base, found }: Prepared, signal: AbortSignal): StepContext {
    const { name, groups } = base;
    return {
      name,
      found,
      groups,
      rooms: () => peers.roomsOf(name, snapshots.get(name)?.groups ?? groups),
      reserve(parts: readonly GrowthPart[]): void {
        const said = snapshots.get(name);
        if (said) snapshots.set(name, withAsked(said, parts));
      },
      reason: '',
      signal,
    };
  }

  /** Says on the object what stands in the way of a pass, where that does not pass by itself. */
  async function sayFault(name: string, fault: Fault, signal: AbortSignal): Promise<void> {
    const object = view.provisioners.all().get(`/${name}`);
    const obstacle = obstacleOfFault(fault);
    if (!object || !obstacle) return;
    // A group that is gone is looked for anew.
    known.forget(name);
    await say({ ...blankSnapshot(name, object, clock.now(), snapshots.get(name)), obstacle }, signal);
  }

  async function pass(name: string, signal: AbortSignal): Promise<PassResult> {
    try {
      return await passOver(name, signal);
    } catch (thrown) {
      const fault = Fault.from(thrown);
      // The right to write the status may be the one that is missing.
      await sayFault(name, fault, signal).catch(() => {});
      throw fault;
    }
  }

  async function passOver(name: string, signal: AbortSignal): Promise<PassResult> {
    // Before the view is there every object looks as if it were gone.
    await view.fresh(FRESH_MS, signal);
    const object = view.provisioners.all().get(`/${name}`);
    if (!object) return forget(name, signal);
    if (!poolGroups.isKnown()) return { afterMs: SECOND_MS };
    const parts = { known, objectWrites, made, poolOf: poolGroups.poolOf, isFrozen: () => hold() !== undefined };
    const prepared = await prepare(parts, blankSnapshot(name, object, clock.now(), snapshots.get(name)), signal);
    if (isUnserved(prepared)) return sayUnserved(prepared, signal);
    const context = contextOf(prepared, signal);
    if (!hold() && (await steps.repeat(context))) {
      known.changed(name);
      return { afterMs: 0 };
    }
    const seen = judge.look(prepared);
    const obstacle = seen ? (obstacleOfTemplates(seen, prepared.base.groups) ?? obstacleOfLabels(seen, name)) : NO_GPU;
    if (!seen || obstacle) return sayUnserved({ unserved: { ...prepared.base, obstacle }, isTemporary: true }, signal);
    return decide({ ...prepared, seen, context });
  }

  /** Makes and drops groups that the object lets Muster make; answers whether there is to be another look at them. */
  async function changeGroups({ base, policy, found, context }: Deciding, { step }: Decided): Promise<boolean> {
    const { name, groups } = base;
    const { signal } = context;
    if (hold()) return false;
    if (step.do === 'grow') {
      const grown = new Set(step.parts.map(({ group }) => group.id));
      const absent = found.filter(({ isAbsent, group }) => isAbsent && grown.has(group.id));
      await made.makeAgain(name, absent, signal);
      return absent.length > 0;
    }
    return step.do === 'nothing' && (await made.dropEmpty(name, { policy, found, groups }, signal));
  }

  /** What saves nodes, where nothing else is to be done. */
  async function orSave(deciding: Deciding, { claim, evaluation, decided }: Judged): Promise<Decided> {
    const { base, policy, seen } = deciding;
    const { name, groups } = base;
    if (decided.step.do !== 'nothing' || hold() || isMassUnready(seen)) return decided;
    const row = poolRowOf(store, name);
    const { dueAt, ...acting } = await defragmenter.next({
      ...{ name, policy, survey: seen, evaluation, groups, row, refusedAt, pending: claim.pending },
    });
    const times = [dueAt, decided.dueAt].filter((at): at is number => at !== undefined);
    return { ...decided, ...acting, dueAt: times.length > 0 ? Math.min(...times) : undefined };
  }

  /** What must be stored before the step is carried out. */
  async function writeDown({ base, policy, seen }: Deciding, evaluation: Evaluation, decided: Decided): Promise<void> {
    const { name } = base;
    const change = decisionOf(name, decided, evaluation, policy);
    const changes = [
      ...(change ? [change] : []),
      ...withoutReturned(store, seen, name),
      ...unknown.observe(name, seen.unknown),
    ];
    if (changes.length > 0) await store.commit(changes);
    const { step, reason } = decided;
    if (step.do === 'untaint' && reason.code === 'not-emptied') defragmenter.gaveUp(step.nodes);
    const spent = spentOn(decided.step, poolRowOf(store, name), clock.now());
    if (spent.length > 0) await store.commit(spent);
  }

  async function decide(deciding: Deciding): Promise<PassResult> {
    const { base, context, seen } = deciding;
    const { name } = base;
    const { signal } = context;
    const judgement = judge.judge(deciding, seen);
    const { claim, evaluation } = judgement;
    const snapshot = { ...base, survey: seen, evaluation, pending: claim.pending.length, unfit: claim.unfit };
    const { step: first } = judgement.decided;
    // Nothing is awaited between the look at the room in the accounts and this.
    snapshots.set(name, { ...snapshot, decided: judgement.decided });
    if (first.do === 'grow') context.reserve(first.parts);
    if (await setAside.observe(name, evaluation.fitting)) return { afterMs: 0 };
    if (await changeGroups(deciding, judgement.decided)) return { afterMs: 0 };
    const decided = await orSave(deciding, judgement);
    if (decided !== judgement.decided) snapshots.set(name, { ...snapshot, decided });
    await writeDown(deciding, evaluation, decided);
    const isActing = decided.step.do !== 'nothing';
    if (isActing) {
      await view.fresh(FRESH_MS, signal);
      known.changed(name);
      const neededSince = neededSinceOf(claim.pending, evaluation);
      await steps.carryOut(decided.step, { ...context, neededSince, reason: decided.reason.code });
    }
    await say(snapshots.get(name) ?? { ...snapshot, decided }, signal);
    return nextPass(decided, isActing || !peers.areSeen(name));
  }

  function nextPass({ dueAt }: Decided, isSoon: boolean): PassResult {
    const dueMs = dueAt === undefined ? RESYNC_MS : dueAt - clock.now();
    return { afterMs: Math.max(0, Math.min(isSoon ? AFTER_ACTION_MS : RESYNC_MS, dueMs)) };
  }

  const loop = startLoop({
    name: 'nodes',
    clock,
    random: deps.random,
    log,
    reconcile: pass,
    logged: (provisioner) => ({ provisioner }),
    failed(name, { message, remedy }) {
      const object = view.provisioners.all().get(`/${name}`);
      if (!object || snapshots.has(name)) return;
      const obstacle = { reason: 'Unreachable', message: `${message} ${remedy}` } as const;
      snapshots.set(name, { ...blankSnapshot(name, object, clock.now()), obstacle });
    },
  });
  async function defragmentation(name: string): Promise<ShownDefragmentation | undefined> {
    const { policy, survey: seen, evaluation, groups = [] } = snapshots.get(name) ?? {};
    if (!policy || !seen || !evaluation) return undefined;
    const plan = await planInSlices(clock, { name, survey: seen, evaluation, groups }, peers);
    return shownDefragPlan(plan, { name, policy, survey: seen, row: poolRowOf(store, name), now: clock.now() });
  }

  return { ...loop, snapshots, defragmentation };
}

interface Deciding extends Prepared {
  readonly seen: NodeSurvey;
  readonly context: StepContext;
}
