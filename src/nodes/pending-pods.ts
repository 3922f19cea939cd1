// Which pods that wait a provisioner must serve, and which are set aside. Pure.

import { MINUTE_MS } from '#core/clock.ts';
import type { SetAsidePod } from '#core/node.ts';
import type { PodFact } from './cluster-objects.ts';
import { obstacleOfTemplate, roomOnNode, waitsForNode } from './evaluate.ts';
import { roomToGrow } from './growth.ts';
import { admits, lackIn } from './simulation/room.ts';
import type { Snapshot } from './snapshot.ts';
import type { NodeSurvey, SeenGroup, SurveyedNode } from './survey.ts';

export interface Claim {
  readonly pending: readonly PodFact[];
  readonly unfit: ReadonlyMap<string, string>;
}

export interface ClaimInput {
  readonly survey: NodeSurvey;
  readonly refused: Iterable<PodFact>;
  readonly setAside: readonly SetAsidePod[];
  readonly groups: readonly SeenGroup[];
  /** Provisioners that come before this one. */
  readonly earlier: readonly Snapshot[];
  readonly now: number;
}

/** Whether that provisioner serves such a pod, so that a later one need not. */
function serves({ survey, groups, evaluation, decided }: Snapshot, pod: PodFact, now: number): boolean {
  if (!survey || !waitsForNode(pod, survey.gpu)) return false;
  const room = evaluation?.packing.placed.get(pod.key);
  // A new node is only on its way where it is asked for now: its groups may be backing off.
  if (room && (room.kind !== 'new' || decided?.step.do === 'grow')) return true;
  // It may not have as many nodes as its pods need: what found no room in them is for others.
  if (evaluation?.packing.unplaced.has(pod.key)) return false;
  return groups.some((group) => {
    const template = survey.templates.get(group.id);
    if (!template || obstacleOfTemplate(pod.class, template) !== undefined) return false;
    return typeof roomToGrow(group, now) === 'number' || survey.coming.some((one) => one.group === group);
  });
}

const hasRoom = (node: SurveyedNode, pod: PodFact): boolean => {
  const room = roomOnNode(node);
  return admits(room, pod.class) && lackIn(room, pod.class) === undefined;
};

/**
 * Others have taken the room that a slow scheduler left it: it counts again. Where the node itself has gone it does not,
 * or each node that is taken away would be asked for anew.
 */
function hasLostRoom(pod: PodFact, { node }: SetAsidePod, { nodes }: NodeSurvey): boolean {
  const ready = nodes.filter(({ phase }) => phase === 'ready');
  return ready.some(({ fact }) => fact.name === node) && !ready.some((one) => hasRoom(one, pod));
}

/** A pod goes to the first provisioner whose nodes it may be on, and which can grow. */
export function claimPods({ survey, refused, setAside, groups, earlier, now }: ClaimInput): Claim {
  const pending: PodFact[] = [];
  const unfit = new Map<string, string>();
  const aside = new Map(setAside.map((one) => [one.uid, one]));
  for (const pod of refused) {
    if (!waitsForNode(pod, survey.gpu)) continue;
    const obstacles = groups.map(({ id }) => {
      const template = survey.templates.get(id);
      return template ? obstacleOfTemplate(pod.class, template) : 'no template';
    });
    const isFitting = obstacles.includes(undefined);
    // A pod that may not be on such nodes at all is no concern of this provisioner; one that is too large is.
    if (!isFitting) {
      const lack = obstacles.find((obstacle) => obstacle !== 'its node selector, affinity or tolerations');
      if (lack !== undefined) unfit.set(pod.key, `a new node has too little of ${lack}`);
      continue;
    }
    const known = aside.get(pod.uid);
    if (known && !hasLostRoom(pod, known, survey))
      unfit.set(pod.key, `set aside, since the scheduler says: ${known.message}`);
    else if (!earlier.some((other) => serves(other, pod, now))) pending.push(pod);
  }
  return { pending, unfit };
}

/** How long a pod must fit before it is set aside. */
export const SET_ASIDE_MS = 2 * MINUTE_MS;

interface SetAsideInput {
  readonly known: readonly SetAsidePod[];
  readonly waiting: ReadonlyMap<string, PodFact>;
  readonly now: number;
  /** Where a pod fits now. */
  nodeOf(key: string): string | undefined;
}

/**
 * Pods that have fitted on a ready node for two minutes while the scheduler still refuses them, beside those known. A pod
 * that is gone, bound or made anew is forgotten.
 */
export function setAsideNow(
  fittingSince: ReadonlyMap<string, number>,
  { known, waiting, now, nodeOf }: SetAsideInput,
): readonly SetAsidePod[] {
  const kept = known.filter(({ uid }) => waiting.has(uid));
  const fresh = [...waiting.values()]
    .filter(({ uid }) => !kept.some((one) => one.uid === uid))
    .filter(({ uid }) => now - (fittingSince.get(uid) ?? now) >= SET_ASIDE_MS)
    .map(({ key, uid, refusal = '' }) => ({ key, uid, since: now, node: nodeOf(key), message: refusal }));
  return fresh.length === 0 && kept.length === known.length ? known : [...kept, ...fresh];
}
