// The status of a NodeProvisioner from what its last pass has seen. Pure.
import type { LastDecision } from '#journal/journal.ts';
import { isReplaced } from './rotation.ts';
import { isLate } from './rotation-due.ts';
import type { Snapshot } from './snapshot.ts';
import { CONDITIONS, type ConditionReason, type ConditionType, type NodePoolStatusValue } from './status-object.ts';
import { expiringNodes, hasStarted, isBusy, type SurveyedNode } from './survey.ts';
import { utilization } from './words.ts';

interface Verdict {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: ConditionReason;
  readonly message: string;
}

const MOST_SHOWN = 50;

const written = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function isReady({ name, obstacle, decided, evaluation, survey }: Snapshot): Verdict {
  if (obstacle) return { status: 'False', ...obstacle };
  if (decided?.reason.code === 'frozen')
    return { status: 'False', reason: 'Frozen', message: 'An operator has frozen everything. Run muster thaw.' };
  if (decided?.reason.code === 'many-not-ready') {
    const message = `${survey?.turnedUnready} nodes turned NotReady: nothing is taken away until they return. If they are lost, run muster node thaw ${name}.`;
    return { status: 'False', reason: 'NodesNotReady', message };
  }
  const { nodes: target = 0, quantities } = evaluation ?? {};
  if (target === quantities?.nodes) return { status: 'True', reason: 'AtTarget', message: `It has ${target} nodes.` };
  return {
    status: 'True',
    reason: 'Scaling',
    message: `It has ${quantities?.nodes ?? 0} nodes and should have ${target}.`,
  };
}

function hasCapacity({ groups, evaluation, decided, at }: Snapshot): Verdict {
  if (decided && ['no-group-grows', 'no-replacement'].includes(decided.reason.code)) {
    const why = groups.flatMap(({ policy, row }) =>
      row?.backoff && row.backoff.until > at ? [`${policy.name}: ${row.backoff.why}`] : [`${policy.name}: full`],
    );
    const message = `No group can grow now (${why.join('; ')}). Add a group or raise a limit.`;
    return { status: 'False', reason: 'NoCapacity', message };
  }
  if (evaluation && evaluation.uncapped > evaluation.nodes) {
    const message = `It should have ${evaluation.uncapped} nodes and may have ${evaluation.nodes}. Raise maxNodes or maxSize.`;
    return { status: 'False', reason: 'AtMostNodes', message };
  }
  return { status: 'True', reason: 'CapacityFound', message: 'The groups grow as they are asked.' };
}

/** What keeps a node that ends from going before that. */
function whyLate(node: SurveyedNode, { survey, policy, evaluation, at }: Snapshot): Omit<Verdict, 'status'> {
  const minutes = Math.max(0, Math.round(((node.endsAt ?? at) - at) / 60_000));
  const head = `${node.fact.name} ends in ${minutes} minutes`;
  const none = {
    reason: 'NoReplacement',
    message: `${head} and has no replacement. Add a group or raise a limit.`,
  } as const;
  if (!survey || !policy || !evaluation) return none;
  const stays = node.pods.map((pod) => ({ pod, why: survey.podStay.ofItself(pod) ?? survey.podStay.ofBudget(pod) }));
  const [first] = stays.filter(({ why }) => why !== undefined);
  if (!isReplaced(node, { survey, evaluation, policy, now: at }) || !first) return none;
  return { reason: 'PodsStay', message: `${head}, and ${first.pod.key} is not evicted: ${first.why}.` };
}

function rotates(snapshot: Snapshot): Verdict {
  const { survey, policy, decided, at } = snapshot;
  const expiring = survey ? expiringNodes(survey) : [];
  const [soonest] = expiring.toSorted((a, b) => (a.endsAt ?? 0) - (b.endsAt ?? 0));
  if (!soonest || !policy) return { status: 'True', reason: 'NothingEnds', message: 'No node ends soon.' };
  if (isLate(soonest, policy, at) || decided?.reason.code === 'no-replacement')
    return { status: 'False', ...whyLate(soonest, snapshot) };
  const minutes = Math.round(((soonest.endsAt ?? at) - at) / 60_000);
  const message = `${soonest.fact.name} ends in ${minutes} minutes and is being replaced.`;
  return { status: 'True', reason: 'OnTime', message };
}

const VERDICTS: Readonly<Record<ConditionType, (snapshot: Snapshot) => Verdict>> = {
  Ready: isReady,
  CapacityAvailable: hasCapacity,
  RotationOnTime: rotates,
};

function conditionsOf(snapshot: Snapshot, before: NodePoolStatusValue, now: number): NodePoolStatusValue['conditions'] {
  const observedGeneration = snapshot.object.metadata.generation;
  return CONDITIONS.filter((type) => type === 'Ready' || !snapshot.obstacle).map((type) => {
    const verdict = VERDICTS[type](snapshot);
    const known = before.conditions?.find((one) => one.type === type);
    const isSame = known?.status === verdict.status && known.lastTransitionTime !== undefined;
    return {
      type,
      ...verdict,
      observedGeneration,
      lastTransitionTime: isSame ? known.lastTransitionTime : written(now),
    };
  });
}

/** Figures of its nodes; absent while nothing could be seen. */
export function countsOf({ survey, evaluation, pending, unfit }: Snapshot) {
  if (!survey || !evaluation) return undefined;
  const { nodes, coming } = survey;
  const ready = nodes.filter(hasStarted);
  return {
    currentSize: nodes.length,
    targetSize: evaluation.nodes,
    ready: ready.length,
    starting: coming.length + nodes.filter(({ phase }) => phase === 'coming').length,
    idleNodes: nodes.filter((node) => node.phase === 'ready' && !isBusy(node)).length,
    emptyingNodes: nodes.filter(({ phase }) => phase === 'emptying').length,
    gpus: nodes.reduce((sum, { gpus }) => sum + gpus, 0),
    gpusRequested: evaluation.quantities.used,
    utilizationPercent: utilization(evaluation),
    pendingPods: pending,
    unfitPods: unfit.size,
  };
}

/** Nodes of which half the lead is over. */
export const lateRotations = ({ survey, policy, at }: Snapshot): number =>
  survey && policy ? expiringNodes(survey).filter((node) => isLate(node, policy, at)).length : 0;

export function statusOfNodePool(snapshot: Snapshot, last: LastDecision | undefined, now: number): NodePoolStatusValue {
  const { object, survey, groups } = snapshot;
  const before = (object.status ?? {}) as NodePoolStatusValue;
  const going = survey?.nodes.filter(({ fact }) => fact.deletionAt !== undefined) ?? [];
  const counts = countsOf(snapshot);
  return {
    observedGeneration: object.metadata.generation,
    ...counts,
    ...(counts && {
      unknownMachines: survey?.unknown.slice(0, MOST_SHOWN) ?? [],
      nodesPendingDeletion: going
        .toSorted((a, b) => (a.fact.deletionAt ?? 0) - (b.fact.deletionAt ?? 0))
        .slice(0, MOST_SHOWN)
        .map(({ fact }) => ({ name: fact.name, at: written(fact.deletionAt ?? 0) })),
      groups: groups.map(({ policy, state, row }) => ({
        name: policy.name,
        size: state.wanted,
        ...(row?.backoff && row.backoff.until > now && { backoffUntil: written(row.backoff.until) }),
        ...(row?.backoff && { lastError: row.backoff.why }),
      })),
    }),
    ...(last && {
      lastDecision: { did: last.decision.did, why: last.decision.why, at: written(last.decision.at) },
    }),
    conditions: conditionsOf(snapshot, before, now),
  };
}
