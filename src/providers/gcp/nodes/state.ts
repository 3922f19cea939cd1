import type { GroupRefusal, NodeGroupState } from '#core/node-group.ts';
import type { GroupResource, ManagedInstance, ResizeRequest } from '../compute/api.ts';
import { instanceNameOf } from '../compute/marks.ts';
import { refusalOf } from '../instance-group/facts.ts';
import { type Group, listManaged } from '../instance-group/group.ts';
import { type Births, isWaiting, learnBirths, namesOf, nodeInstanceOf, nodeRequestOf } from './instances.ts';
import { nodeTemplateOf } from './template.ts';

/** What a group of nodes is beside an instance group. */
export interface NodesGroup {
  readonly group: Group;
  readonly births: Births;
  /** Why its owner elsewhere, such as a node pool, forbids to size it. */
  refusal?(resource: GroupResource, signal: AbortSignal): Promise<GroupRefusal | undefined>;
  /** Labels that its nodes bear beside those of its template. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export const readResource = ({ compute, path }: Group, signal: AbortSignal): Promise<GroupResource> =>
  compute.ask<GroupResource>({ path }, signal);

export function listRequests({ compute, path }: Group, signal: AbortSignal): Promise<ResizeRequest[]> {
  const items = ({ items: found = [] }: { readonly items?: readonly ResizeRequest[] }) => found;
  return compute.all({ path: `${path}/resizeRequests`, query: { maxResults: 500 }, items }, signal);
}

export async function refusalFor(
  { group, refusal }: NodesGroup,
  resource: GroupResource,
  signal: AbortSignal,
): Promise<GroupRefusal | undefined> {
  return refusalOf(group, resource) ?? (await refusal?.(resource, signal));
}

/** Queued instances stand in the listing of the group too, without an address or an id: their request counts them. */
function isQueued(managed: ManagedInstance, awaited: ReadonlySet<string>): boolean {
  if (managed.id !== undefined) return false;
  return !managed.instance || awaited.has(instanceNameOf(managed));
}

export async function describeGroup(nodes: NodesGroup, signal: AbortSignal): Promise<NodeGroupState> {
  const { group, births, labels } = nodes;
  const resource = await readResource(group, signal);
  // Requests first: what is granted in between is then seen twice, and told apart by its name, rather than not at all.
  const [requests, template, refusal] = await Promise.all([
    listRequests(group, signal),
    nodeTemplateOf(group, resource, signal),
    refusalFor(nodes, resource, signal),
  ]);
  const listed = await listManaged(group, signal);
  const awaited = new Set(requests.filter(isWaiting).flatMap(namesOf));
  const managed = listed.filter((one) => !isQueued(one, awaited));
  await learnBirths(group, managed, births, signal);
  const instances = managed.map((one) => nodeInstanceOf(group, one, births));
  const come = new Set(instances.map(({ name }) => name));
  const nowMs = group.compute.clock.now();
  const waiting = requests.flatMap((one) => nodeRequestOf(one, come, nowMs));
  const living = instances.filter(({ state }) => state !== 'deleting').length;
  return {
    wanted: waiting.reduce((sum, { count }) => sum + count, living),
    template: labels ? { ...template, labels: { ...template.labels, ...labels } } : template,
    instances,
    requests: waiting,
    baseName: resource.baseInstanceName ?? group.name,
    ...(refusal && { refusal }),
  };
}
