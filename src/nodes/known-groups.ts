// The groups of each provisioner as they were found and described last, so that a storm of events is not one of calls.
import type { OpenKinds } from '#clouds/open-kinds.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { NodeGroupRow } from '#core/node.ts';
import type { NodeGroupState, NodeGroups } from '#core/node-group.ts';
import { type Change, put, type Store } from '#core/store.ts';
import type { ClusterView } from './cluster-view.ts';
import {
  chosenAccount,
  type FoundGroup,
  type FoundGroups,
  findGroups,
  isObstacle,
  type MissingGroup,
  type Obstacle,
} from './group-finder.ts';
import { absentGroup } from './made-groups.ts';
import type { Policy } from './policy.ts';
import { accountName, type NodesSettings } from './section.ts';
import type { Snapshot } from './snapshot.ts';
import type { SeenGroup } from './survey.ts';

export interface KnownGroupsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly hosts: OpenKinds<NodeGroups>;
  readonly view: ClusterView;
  readonly settings: NodesSettings;
  readonly snapshots: ReadonlyMap<string, Snapshot>;
}

export interface KnownGroups {
  find(name: string, policy: Policy, signal: AbortSignal): Promise<FoundGroups | Obstacle>;
  describe(name: string, policy: Policy, signal: AbortSignal): Promise<readonly SeenGroup[]>;
  /** Something was done to them: the next pass looks anew. */
  changed(name: string): void;
  forget(name: string): void;
}

const FIND_AGAIN_MS = 10 * MINUTE_MS;
const DESCRIBE_AGAIN_MS = 5 * SECOND_MS;

interface Known {
  /** What it was found for. */
  readonly key: string;
  readonly at: number;
  readonly groups: readonly FoundGroup[];
  described?: { readonly at: number; readonly states: readonly NodeGroupState[] } | undefined;
}

/** A listing that shows what was asked for answers the growth; what had its time is forgotten. */
export function settledRow(row: NodeGroupRow, state: NodeGroupState, keepFrom: number): NodeGroupRow {
  const isSettled = row.asked.every((one) => (one.isAnswered ? one.at >= keepFrom : state.wanted < one.to));
  if (isSettled) return row;
  const asked = row.asked
    .map((one) => (!one.isAnswered && state.wanted >= one.to ? { ...one, isAnswered: true } : one))
    .filter(({ isAnswered, at }) => !isAnswered || at >= keepFrom);
  return { ...row, asked };
}

export function openKnownGroups({ store, clock, hosts, view, settings, snapshots }: KnownGroupsDeps): KnownGroups {
  const known = new Map<string, Known>();

  function providerIdsOf(name: string): readonly string[] {
    return [...view.nodes.all().values()]
      .filter((node) => node.provisioner === name)
      .map(({ providerId }) => providerId);
  }

  const takenBy = (id: string, name: string): string | undefined =>
    [...snapshots.values()].find((other) => other.name !== name && other.groupIds.includes(id))?.name;

  /** A group that was dropped while it was empty, as long as the object wants it from the same template. */
  function absentOf(name: string, { policy, account }: MissingGroup): readonly FoundGroup[] {
    const row = [...store.view.nodeGroups.by('provisioner', name)].find((one) => one.name === policy.name);
    const { made, template } = row ?? {};
    const isSame = made?.isDropped && made.template === policy.template && made.account === accountName(account);
    if (!row || !template || !isSame) return [];
    return [{ policy, account, group: absentGroup(row.id, policy.name, template), isAbsent: true }];
  }

  /** With those that were dropped in their places. */
  function withAbsent(name: string, { groups, missing }: FoundGroups): FoundGroups {
    const absent = missing.flatMap((one) => absentOf(name, one));
    return {
      groups: [...groups, ...absent].toSorted((a, b) => a.policy.priority - b.policy.priority),
      missing: missing.filter(({ policy }) => !absent.some((one) => one.policy === policy)),
    };
  }

  async function statesOf(name: string, there: Known, signal: AbortSignal): Promise<readonly NodeGroupState[]> {
    const at = clock.now();
    if (there.described && at - there.described.at < DESCRIBE_AGAIN_MS) return there.described.states;
    const by = { name: 'describe', is: 'read', owner: name, signal } as const;
    const states = await Promise.all(
      there.groups.map(({ group, account }) =>
        hosts.call(chosenAccount(account), by, (_groups, ending) => group.describe(ending)),
      ),
    );
    there.described = { at, states };
    return states;
  }

  return {
    async find(name, policy, signal) {
      const key = JSON.stringify(policy.groups);
      const there = known.get(name);
      if (there?.key === key && clock.now() - there.at < FIND_AGAIN_MS) return { groups: there.groups, missing: [] };
      const wanted = { name, groups: policy.groups, providerIds: providerIdsOf(name) };
      const answer = await findGroups({ hosts, accounts: settings.accounts, takenBy }, wanted, signal);
      const found = isObstacle(answer) ? answer : withAbsent(name, answer);
      if (isObstacle(found) || found.missing.length > 0) known.delete(name);
      else known.set(name, { key, at: clock.now(), groups: found.groups });
      return found;
    },
    async describe(name, policy, signal) {
      const there = known.get(name);
      if (!there) return [];
      const states = await statesOf(name, there, signal);
      const changes: Change[] = [];
      const groups = there.groups.flatMap(({ policy: own, group, account }, at): SeenGroup[] => {
        const state = states[at];
        if (!state) return [];
        const row = store.view.nodeGroups.get(group.id);
        const next = row && settledRow(row, state, clock.now() - 2 * policy.registrationMs);
        if (next && next !== row) changes.push(put('nodeGroups', next));
        return [{ id: group.id, account, policy: own, state, hasQueue: group.queue !== undefined, row: next }];
      });
      if (changes.length > 0) await store.commit(changes);
      return groups;
    },
    changed(name) {
      const there = known.get(name);
      if (there) there.described = undefined;
    },
    forget: (name) => void known.delete(name),
  };
}
