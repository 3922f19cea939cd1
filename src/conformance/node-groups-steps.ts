// What the laws of node groups do again and again.
import {
  isGroupRefusal,
  type NodeGroup,
  type NodeGroupState,
  type NodeGroups,
  type NodeGrowth,
} from '#core/node-group.ts';
import { going } from '#core/testing/going.ts';
import { demand } from './demand.ts';
import type { NodeGroupsLawId, NodeGroupsSubject, NodeGroupsWorld } from './node-groups-world.ts';
import type { Law } from './suite.ts';

export type NodeGroupsLaw = Law<NodeGroupsLawId, NodeGroupsWorld, NodeGroupsSubject>;

export const G = 'group-g';
export const H = 'group-h';

export const find = (
  world: NodeGroupsWorld,
  groups: NodeGroups,
  names: readonly string[],
  providerIds: readonly string[] = [],
): ReturnType<NodeGroups['find']> => world.during(groups.find({ names, providerIds }, going()));

/** The group of that name, found by a server that has just started. */
export async function groupOf(world: NodeGroupsWorld, name = G): Promise<NodeGroup> {
  const found = (await find(world, await world.during(world.open()), [name])).get(name);
  demand(found, `does not answer for ${name}`);
  const group = found as NodeGroup;
  demand(!isGroupRefusal(group), `refuses ${name}, which is there`);
  return group;
}

/** A group that was there before us. */
export async function aGroup(world: NodeGroupsWorld, size: number, name = G): Promise<NodeGroup> {
  await world.addGroup(name, size);
  return groupOf(world, name);
}

/** Looks at a group, and demands that its size is the sum of what it shows. */
export async function look(world: NodeGroupsWorld, group: NodeGroup): Promise<NodeGroupState> {
  const state = await world.during(group.describe(going()));
  const living = state.instances.filter(({ state: phase }) => phase !== 'deleting').length;
  const asked = state.requests.reduce((sum, { count }) => sum + count, 0);
  demand(
    state.wanted === living + asked,
    `aims at ${state.wanted}, and shows ${living} machines and requests for ${asked}`,
  );
  return state;
}

/** A growth as the controller commits it: names where the group takes them, the size that it leads to. */
export function growthOf(
  { wanted, baseName }: NodeGroupState,
  count: number,
  { id = 'g1', runForMs }: { readonly id?: string; readonly runForMs?: number } = {},
): NodeGrowth {
  const names = baseName === undefined ? undefined : Array.from({ length: count }, (_, at) => `${baseName}-${id}${at}`);
  return { id, count, to: wanted + count, names, runForMs };
}

export async function growGroup(world: NodeGroupsWorld, group: NodeGroup, growth: NodeGrowth): Promise<void> {
  await world.during(group.grow(growth, going()));
  await world.settle();
}
