// How many nodes the accounts of the server's file still let all objects together ask for.
import type { GrowthPart } from './growth.ts';
import type { NodeAccount } from './section.ts';
import type { Snapshot } from './snapshot.ts';
import { type SeenGroup, unseenOf } from './survey.ts';

export type AccountRooms = ReadonlyMap<NodeAccount, number>;

/** The room in the accounts of these groups, beside what the groups of other objects have. */
export function accountRooms(groups: readonly SeenGroup[], others: readonly Snapshot[]): AccountRooms {
  const all = [...groups, ...others.flatMap((other) => other.groups)];
  const roomIn = (account: NodeAccount): number => {
    if (account.maxNodes === undefined) return Number.POSITIVE_INFINITY;
    const own = all.filter((group) => group.account === account);
    return Math.max(0, account.maxNodes - own.reduce((sum, group) => sum + group.state.wanted + unseenOf(group), 0));
  };
  return new Map(groups.map(({ account }) => [account, roomIn(account)]));
}

/** A snapshot whose groups count these machines already: passes over other objects run at the same time. */
export function withAsked(snapshot: Snapshot, parts: readonly GrowthPart[]): Snapshot {
  const groups = snapshot.groups.map((group) => {
    const count = parts.find((part) => part.group.id === group.id)?.count ?? 0;
    return count === 0 ? group : { ...group, state: { ...group.state, wanted: group.state.wanted + count } };
  });
  return { ...snapshot, groups };
}
