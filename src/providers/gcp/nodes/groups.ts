// All instance groups of one project, as groups of nodes.
import { Fault } from '#core/fault.ts';
import type { GroupRefusal, NewNodeGroup, NodeGroup, NodeGroups } from '#core/node-group.ts';
import type { Context } from '#core/provider.ts';
import { type GroupResource, lastPart } from '../compute/api.ts';
import { accountOf, type Compute, computeAt } from '../compute/client.ts';
import { instanceNameOf } from '../compute/marks.ts';
import { poolsOf } from '../gke-nodes/container-api.ts';
import { poolRefusal } from '../gke-nodes/refusal.ts';
import { type Group, groupIn, listManaged } from '../instance-group/group.ts';
import { grow, removeInstances } from './change.ts';
import type { GceNodesConfig } from './config.ts';
import type { Births } from './instances.ts';
import { dropGroup, madeForOf, makeGroup, PROVISIONER_LABEL } from './make.ts';
import { cancelRequests, QUEUE } from './queue.ts';
import { describeGroup, type NodesGroup } from './state.ts';
import { poolBehind } from './template.ts';

/** `us-central1-a/grp-a` means the group of that zone or region, and so does its address. */
function wantedOf(written: string): { readonly name: string; readonly at?: string | undefined } {
  const [, at, name = ''] = /([^/]+)\/(?:instanceGroup\w+\/)?([^/]+)$/.exec(written) ?? [];
  return at === undefined ? { name: written } : { name, at };
}

export const placeOf = ({ selfLink = '' }: GroupResource): string =>
  /(?:zones|regions)\/[^/]+/.exec(selfLink)?.[0] ?? '';

export interface FoundGroup {
  readonly group: Group;
  /** Another name that people may write. */
  readonly alias?: string | undefined;
  readonly madeFor?: string | undefined;
}

const shownAs = ({ group, alias }: FoundGroup): string =>
  `${group.name} in ${lastPart(group.place)}${alias === undefined ? '' : ` (${alias})`}`;

const LISTED = 10;

function several(found: readonly FoundGroup[]): string {
  const some = found.slice(0, LISTED).map(shownAs).join(', ');
  return found.length > LISTED ? `${some}, …` : some;
}

function notFound(name: string, all: readonly FoundGroup[], where: string): GroupRefusal {
  const known = all.length > 0 ? `there are ${several(all)}` : 'there are none';
  return {
    reason: 'GroupNotFound',
    message: `There is no instance group ${name} in ${where}; ${known}.`,
    remedy: 'Correct the name, or make the group.',
  };
}

function ambiguous(name: string, fitting: readonly FoundGroup[]): GroupRefusal {
  const [first] = fitting;
  return {
    reason: 'GroupAmbiguous',
    message: `The name ${name} fits several instance groups: ${several(fitting)}.`,
    remedy: `Write the zone or region before the name, like ${lastPart(first?.group.place ?? '')}/${name}.`,
  };
}

/** Whether one of these nodes is an instance of the group. */
async function hasNode({ group }: FoundGroup, providerIds: readonly string[], signal: AbortSignal): Promise<boolean> {
  const names = new Set(providerIds.filter((id) => id.startsWith(`gce://${group.compute.project}/`)).map(lastPart));
  const instances = await listManaged(group, signal);
  const zones = new Set(providerIds.map((id) => id.split('/').at(-2)));
  return instances.some(
    (one) => names.has(instanceNameOf(one)) && [...zones].some((zone) => one.instance?.includes(`/${zone}/`)),
  );
}

/** The one group of that name, where nodes at hand decide between several. */
export async function chooseGroup<Found extends FoundGroup>(
  written: string,
  all: readonly Found[],
  { providerIds, where }: { readonly providerIds: readonly string[]; readonly where: string },
  signal: AbortSignal,
): Promise<Found | GroupRefusal> {
  const { name, at } = wantedOf(written);
  const fitting = all.filter(
    ({ group, alias }) => (group.name === name || alias === name) && (at === undefined || lastPart(group.place) === at),
  );
  const [only, second] = fitting;
  if (!only) return notFound(written, all, where);
  if (!second) return only;
  const atHand = await Promise.all(
    fitting.map(async (one) => ((await hasNode(one, providerIds, signal)) ? [one] : [])),
  );
  const [chosen, another] = atHand.flat();
  return chosen && !another ? chosen : ambiguous(name, fitting);
}

/** Google's name for groups. */
const GROUPS = 'instanceGroupManagers';

interface Scope {
  readonly [GROUPS]?: readonly GroupResource[];
  readonly warning?: { readonly code?: string };
}

function groupsIn({ items = {} }: { readonly items?: Readonly<Record<string, Scope>> }): GroupResource[] {
  const silent = Object.entries(items).find(([, { warning }]) => warning?.code === 'UNREACHABLE');
  // Its groups would count as gone.
  if (silent) throw new Fault('unavailable', `Compute Engine did not list the instance groups of ${silent[0]}.`);
  return Object.values(items).flatMap(({ [GROUPS]: groups = [] }) => groups);
}

export function nodeGroupOf(nodes: NodesGroup, madeFor?: string | undefined): NodeGroup {
  const { group } = nodes;
  return {
    id: group.cloud,
    name: group.name,
    queue: QUEUE,
    madeFor,
    describe: (signal) => describeGroup(nodes, signal),
    grow: (growth, signal) => grow(nodes, growth, signal),
    cancel: (ids, signal) => cancelRequests(group, ids, signal),
    remove: (ids, signal) => removeInstances(nodes, ids, signal),
  };
}

/** Keeps when instances were made, by group, for as long as it is open. */
export function openBirths(): (group: Group) => Births {
  const all = new Map<string, Births>();
  return ({ cloud }) => {
    const known = all.get(cloud) ?? new Map();
    all.set(cloud, known);
    return known;
  };
}

export async function openGceNodes(config: GceNodesConfig, context: Context): Promise<NodeGroups> {
  const compute: Compute = computeAt(config.project, config.endpoint, context);
  const { cluster } = context;
  const birthsOf = openBirths();
  const where = `the project ${config.project}`;

  async function allGroups(signal: AbortSignal): Promise<readonly FoundGroup[]> {
    const listing = { path: `/aggregated/${GROUPS}`, query: { maxResults: 500 }, items: groupsIn };
    const found = await compute.all(listing, signal);
    return found.map((resource) => ({
      group: groupIn(compute, cluster, placeOf(resource), resource.name),
      madeFor: madeForOf(resource, cluster),
    }));
  }

  /** A group behind a node pool may be sized by GKE itself. */
  async function refusalAt(group: Group, resource: GroupResource, signal: AbortSignal) {
    const behind = await poolBehind(group, resource, signal);
    return behind && poolRefusal(poolsOf(behind.at, context), behind.at, behind.pool, signal);
  }

  function open({ group, madeFor }: FoundGroup): NodeGroup {
    const refusal = (resource: GroupResource, signal: AbortSignal) => refusalAt(group, resource, signal);
    const labels = madeFor === undefined ? undefined : { [PROVISIONER_LABEL]: madeFor };
    return nodeGroupOf({ group, births: birthsOf(group), refusal, labels }, madeFor);
  }

  async function create(wanted: NewNodeGroup, signal: AbortSignal): Promise<NodeGroup> {
    const template = config.groupTemplates?.[wanted.template];
    if (!template)
      throw new Fault('invalid', `There is no group template ${wanted.template} for ${where}.`, {
        remedy: 'Name one of group_templates in the configuration of this account.',
      });
    const there = (await allGroups(signal)).filter(({ group }) => group.name === wanted.name);
    const ours = there.find(({ madeFor }) => madeFor === wanted.provisioner);
    if (ours) return open(ours);
    if (there.length > 0) throw new Fault('conflict', `The group ${wanted.name} is there, and was made by others.`);
    const group = await makeGroup({ compute, cluster }, wanted, template, signal);
    return open({ group, madeFor: wanted.provisioner });
  }

  return {
    cloud: `${accountOf(compute)}:node-groups`,
    account: accountOf(compute),
    async find({ names, providerIds }, signal) {
      const all = await allGroups(signal);
      const found = names.map(async (name) => {
        const chosen = await chooseGroup(name, all, { providerIds, where }, signal);
        return [name, 'reason' in chosen ? chosen : open(chosen)] as const;
      });
      return new Map(await Promise.all(found));
    },
    ...(config.groupTemplates && { create }),
    async drop(name, signal) {
      const there = (await allGroups(signal)).filter(({ group }) => group.name === name);
      if (there.length === 0) return;
      const ours = there.find(({ madeFor }) => madeFor !== undefined);
      if (!ours) throw new Fault('conflict', `The group ${name} was made by others.`);
      await dropGroup(ours.group, signal);
    },
  };
}
