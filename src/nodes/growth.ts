// Which groups grow by how much: in order of priority, past those that are full or did not grow lately. Pure.

import { MINUTE_MS } from '#core/clock.ts';
import type { GroupBackoff } from '#core/node.ts';
import type { Alternative } from '#core/reason.ts';
import type { AccountRooms } from './account-rooms.ts';
import type { SeenGroup } from './survey.ts';

/** Nodes that are needed. */
export interface NodeNeed {
  readonly count: number;
  /** Ids of the groups on whose nodes the pods fit that they are for; absent: any will do. */
  readonly among?: ReadonlySet<string>;
}

export interface GrowthPart {
  readonly group: SeenGroup;
  readonly count: number;
  /** What these nodes are for. */
  readonly needs: readonly NodeNeed[];
}

export interface GrowthPlan {
  readonly parts: readonly GrowthPart[];
  /** Nodes that no group can give now. */
  readonly short: number;
  readonly alternatives: readonly Alternative[];
}

/** Requests of a queue in one pass, and machines of one call. */
const MOST_AT_ONCE = { queue: 50, plain: 1_000 };

/** What cannot wait is asked again a minute after the last refusal, whatever the back-off. */
export const urgentFrom = ({ failedAt, until }: GroupBackoff): number => Math.min(until, failedAt + MINUTE_MS);

/** How much a group may grow now, or why not. */
export function roomToGrow(
  { policy, state, row, hasQueue }: SeenGroup,
  now: number,
  isUrgent = false,
): number | string {
  if (state.refusal) return state.refusal.message;
  const backoff = row?.backoff;
  const from = backoff && (isUrgent ? urgentFrom(backoff) : backoff.until);
  if (from !== undefined && from > now) return `backing off until ${new Date(from).toISOString()}: ${backoff?.why}`;
  if (row?.asked.some(({ isAnswered }) => !isAnswered)) return 'a growth of it is not answered yet';
  if (policy.flexStart && !hasQueue) return 'flexStart is set, and the group has no queue';
  const room = Math.min(policy.maxSize, state.most ?? policy.maxSize) - state.wanted;
  return room > 0 ? Math.min(room, policy.flexStart ? MOST_AT_ONCE.queue : MOST_AT_ONCE.plain) : 'full';
}

export interface GrowthInput {
  readonly groups: readonly SeenGroup[];
  readonly needs: readonly NodeNeed[];
  readonly rooms: AccountRooms;
  readonly now: number;
  /** For nodes that end soon. */
  readonly isUrgent?: boolean | undefined;
}

const MANY = Number.POSITIVE_INFINITY;

/** The needs for so many nodes: those that only some groups serve come first. */
export function needsFor(wanted: number, needs: readonly NodeNeed[]): readonly NodeNeed[] {
  const ordered = needs.toSorted((a, b) => (a.among?.size ?? MANY) - (b.among?.size ?? MANY));
  let left = wanted;
  const taken = ordered.map((need) => {
    const count = Math.min(left, need.count);
    left -= count;
    return { ...need, count };
  });
  return [...taken, { count: left }].filter(({ count }) => count > 0);
}

/** Groups in order of priority, each with how much it may still grow in this plan. */
function openGroupRooms({ groups, rooms, now, isUrgent }: Omit<GrowthInput, 'needs'>) {
  const inAccount = new Map(rooms);
  const all = groups.map((group) => {
    const room = roomToGrow(group, now, isUrgent);
    return { group, refusal: typeof room === 'string' ? room : undefined, room, needs: [] as NodeNeed[] };
  });
  type GroupRoom = (typeof all)[number];

  return {
    all,
    /** Takes as much of the need as the group may give. */
    take(one: GroupRoom, { count, ...need }: NodeNeed): number {
      const { group, room } = one;
      const given = typeof room === 'string' ? 0 : Math.min(count, room, inAccount.get(group.account) ?? 0);
      if (given <= 0 || typeof room === 'string') return 0;
      one.room = room - given;
      inAccount.set(group.account, (inAccount.get(group.account) ?? 0) - given);
      one.needs.push({ ...need, count: given });
      return given;
    },
  };
}

const serves = ({ id }: SeenGroup, { among }: NodeNeed): boolean => among?.has(id) ?? true;

const sumOf = (needs: readonly NodeNeed[]): number => needs.reduce((sum, { count }) => sum + count, 0);

export function planGrowth({ needs, ...input }: GrowthInput): GrowthPlan {
  const groups = openGroupRooms(input);
  const unserved: NodeNeed[] = [];
  for (const need of needs) {
    let left = need.count;
    for (const one of groups.all.filter(({ group }) => serves(group, need)))
      left -= groups.take(one, { ...need, count: left });
    if (left > 0) unserved.push({ ...need, count: left });
  }

  function whyNot({ group, refusal }: (typeof groups.all)[number]): string {
    if (refusal !== undefined) return refusal;
    if (unserved.some((need) => serves(group, need))) return 'its account has its most nodes';
    if (needs.length === 0) return 'no more nodes are needed';
    const isOfNoUse = !needs.some((need) => serves(group, need));
    return isOfNoUse ? 'the pods that wait do not fit on its nodes' : 'groups before it suffice';
  }
  return {
    parts: groups.all
      .filter((one) => one.needs.length > 0)
      .map(({ group, needs: own }) => ({ group, count: sumOf(own), needs: own })),
    short: sumOf(unserved),
    alternatives: groups.all
      .filter((one) => one.needs.length === 0)
      .map((one) => {
        const { name, pricePerHour } = one.group.policy;
        return { what: `grow ${name}`, whyNot: whyNot(one), pricePerHour };
      }),
  };
}

const FIRST_MS = 5 * MINUTE_MS;
const LONGEST_MS = 30 * MINUTE_MS;
const FORGET_MS = 180 * MINUTE_MS;

/** The next back-off of a group that did not grow: 5 to 30 minutes; a failure long ago does not count. */
export function nextBackoff(before: GroupBackoff | undefined, why: string, now: number): GroupBackoff {
  const isKnown = before !== undefined && now - before.failedAt < FORGET_MS;
  if (isKnown && before.until > now) return { ...before, failedAt: now, why };
  const lastMs = isKnown ? Math.min(LONGEST_MS, before.lastMs * 2) : FIRST_MS;
  return { until: now + lastMs, lastMs, failedAt: now, why };
}
