// What a pass sees of a provisioner, and what it decides from that. Calls nothing, and keeps in mind which nodes leave.
import type { Clock } from '#core/clock.ts';
import type { Reason } from '#core/reason.ts';
import type { Store } from '#core/store.ts';
import type { NodeFact } from './cluster-objects.ts';
import type { ClusterView } from './cluster-view.ts';
import { type Evaluation, evaluate } from './evaluate.ts';
import { type Decided, nextNodeStep } from './next-step.ts';
import type { Peers } from './peers.ts';
import { type Claim, claimPods } from './pending-pods.ts';
import type { PodStay } from './pod-stay.ts';
import { poolRowOf } from './pool-row.ts';
import type { Prepared } from './preparation.ts';
import { type NodeSurvey, survey } from './survey.ts';

export interface JudgeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly view: ClusterView;
  readonly peers: Peers;
  readonly podStay: PodStay;
  /** By uid, since when a node that is due takes no pods. */
  readonly cordonedAt: Map<string, number>;
  /** By uid: nodes whose machines are being deleted. */
  readonly leaving: Set<string>;
  /** By uid of a pod: when its budget refused last. */
  readonly refusedAt: ReadonlyMap<string, number>;
  /** Why nothing is done at all. */
  hold(): Reason | undefined;
}

export interface Judged {
  readonly claim: Claim;
  readonly evaluation: Evaluation;
  readonly decided: Decided;
}

export interface Judge {
  /** Undefined where no GPU is to be seen. */
  look(prepared: Prepared): NodeSurvey | undefined;
  /** What it should have, and what to do about it now. */
  judge(prepared: Prepared, seen: NodeSurvey): Judged;
}

export function openJudge(deps: JudgeDeps): Judge {
  const { store, clock, view, peers, podStay, cordonedAt, leaving, refusedAt, hold } = deps;

  /** Forgets nodes that are gone, and sees those that another process has cordoned: they wait anew. */
  function trackLeaving(nodes: readonly NodeFact[]): void {
    const there = new Set(nodes.map(({ uid }) => uid));
    for (const gone of [leaving, cordonedAt]) for (const uid of gone.keys()) if (!there.has(uid)) gone.delete(uid);
    const isNew = ({ uid, cordonedByUs, deletionAt }: NodeFact): boolean =>
      cordonedByUs && deletionAt !== undefined && !cordonedAt.has(uid);
    for (const { uid } of nodes.filter(isNew)) cordonedAt.set(uid, clock.now());
  }

  return {
    look({ base: { name, groups }, policy }) {
      const all = [...view.nodes.all().values()];
      trackLeaving(all);
      const nodes = all.filter(({ provisioner }) => provisioner === name);
      const otherNodes = all.filter(({ provisioner }) => provisioner !== name);
      const letGo = new Set(poolRowOf(store, name).letGo);
      return survey({
        ...{ name, now: clock.now(), policy, nodes, otherNodes, groups, leaving, podStay, letGo },
        podsOn: view.podsOn,
      });
    },
    judge({ base, policy }, seen) {
      const { name, object, groups, at: now } = base;
      const earlier = peers.earlierThan(object);
      const claim = claimPods({
        survey: seen,
        // Until those before it have been looked at, it is not known which pods are theirs.
        refused: earlier ? view.refused() : [],
        setAside: poolRowOf(store, name).setAside,
        groups,
        earlier: earlier ?? [],
        now,
      });
      const rooms = peers.roomsOf(name, groups);
      const others = peers.otherRooms(name);
      const evaluation = evaluate({ survey: seen, policy, groups, pending: claim.pending, others, rooms, now });
      const facts = { now, policy, survey: seen, groups, rooms, evaluation };
      const decided = nextNodeStep({ ...facts, cordonedAt, refusedAt, hold: hold() });
      return { claim, evaluation, decided };
    },
  };
}
