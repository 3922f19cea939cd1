// Which groups grow by how much: in order of priority, past those that are full or did not grow lately. Pure.

import { MINUTE_MS } from '#core/clock.ts';
import type { GroupBackoff } from '#core/node.ts';
import type { Alternative } from '#core/reason.ts';
import type { AccountRooms } from './account-rooms.ts';
import type { SeenGroup } from './survey.ts';

export interface GrowthPart {
  readonly group: SeenGroup;
  readonly count: number;
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
  readonly wanted: number;
  readonly rooms: AccountRooms;
  readonly now: number;
  /** For nodes that end soon. */
  readonly isUrgent?: boolean | undefined;
}

/** What a plan leaves of the room in the accounts. */
export function roomsAfter(rooms: AccountRooms, parts: readonly GrowthPart[]): AccountRooms {
  const left = new Map(rooms);
  for (const { group, count } of parts) left.set(group.account, (left.get(group.account) ?? 0) - count);
  return left;
}

export function planGrowth({ groups, wanted, rooms, now, isUrgent }: GrowthInput): GrowthPlan {
  const parts: GrowthPart[] = [];
  const alternatives: Alternative[] = [];
  let left = wanted;
  for (const group of groups) {
    const room = roomToGrow(group, now, isUrgent);
    const { name, pricePerHour } = group.policy;
    if (typeof room === 'string') {
      alternatives.push({ what: `grow ${name}`, whyNot: room, pricePerHour });
      continue;
    }
    const inAccount = roomsAfter(rooms, parts).get(group.account) ?? 0;
    const count = Math.min(left, room, inAccount);
    if (count > 0) parts.push({ group, count });
    else {
      const whyNot = left > 0 ? 'its account has its most nodes' : 'groups before it suffice';
      alternatives.push({ what: `grow ${name}`, whyNot, pricePerHour });
    }
    left -= count;
  }
  return { parts, short: left, alternatives };
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
