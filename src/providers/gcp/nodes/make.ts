// Groups that are made for a NodeProvisioner. A group has no labels: its description says whose it is.
import { Fault } from '#core/fault.ts';
import type { NewNodeGroup } from '#core/node-group.ts';
import type { GroupResource, Operation } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';
import { followed, requestIdFor } from '../compute/operation.ts';
import { type Group, groupIn, listManaged } from '../instance-group/group.ts';
import type { GroupTemplate } from './config.ts';
import { isWaiting } from './instances.ts';
import { listRequests } from './state.ts';

/** The label by which a node tells which NodeProvisioner sizes its group. */
export const PROVISIONER_LABEL = 'nodeprovisioner.compute.baseten.co/provisioner-name';

const MADE_IN_MS = 120_000;

const descriptionFor = (cluster: string, provisioner: string): string =>
  `Made by Muster ${cluster} for the NodeProvisioner ${provisioner}.`;

/** For whom our cluster made it; undefined: it did not. */
export function madeForOf({ description = '' }: GroupResource, cluster: string): string | undefined {
  const provisioner = description.split(' ').at(-1)?.replace(/[.]$/, '') ?? '';
  return description === descriptionFor(cluster, provisioner) ? provisioner : undefined;
}

// A name of an instance has 63 characters, of which the last are its own.
const BASE_LENGTH = 46;

function bodyFor({ name, provisioner }: NewNodeGroup, url: string, place: string, cluster: string): object {
  return {
    name,
    baseInstanceName: name.slice(0, BASE_LENGTH).replace(/-+$/, ''),
    description: descriptionFor(cluster, provisioner),
    instanceTemplate: url,
    targetSize: 0,
    // What the script of the template gives to the kubelet as --node-labels, where it is none of GKE.
    allInstancesConfig: { properties: { metadata: { 'muster-node-labels': `${PROVISIONER_LABEL}=${provisioner}` } } },
    // A lost machine is replaced by us, under another name; new templates count for new machines.
    instanceLifecyclePolicy: { defaultActionOnFailure: 'DO_NOTHING' },
    updatePolicy: {
      type: 'OPPORTUNISTIC',
      ...(place.startsWith('regions/') && { instanceRedistributionType: 'NONE' }),
    },
  };
}

const isMissing = (thrown: unknown): undefined => {
  const fault = Fault.from(thrown);
  if (fault.kind !== 'missing') throw fault;
};

/** The template of the region where there is one of that name, else of the project. */
async function templateUrl(compute: Compute, place: string, name: string, signal: AbortSignal): Promise<string> {
  const own = `/${place}/instanceTemplates/${name}`;
  const ofRegion = place.startsWith('regions/') && (await compute.ask({ path: own }, signal).catch(isMissing));
  return `projects/${compute.project}${ofRegion ? own : `/global/instanceTemplates/${name}`}`;
}

export async function makeGroup(
  { compute, cluster }: { readonly compute: Compute; readonly cluster: string },
  wanted: NewNodeGroup,
  { zone, region, instanceTemplate }: GroupTemplate,
  signal: AbortSignal,
): Promise<Group> {
  const place = zone === undefined ? `regions/${region}` : `zones/${zone}`;
  const url = await templateUrl(compute, place, instanceTemplate, signal);
  const query = { requestId: requestIdFor(place, wanted.name, wanted.provisioner, cluster) };
  const body = bodyFor(wanted, url, place, cluster);
  const path = `/${place}/instanceGroupManagers`;
  const operation = await compute.ask<Operation>({ method: 'POST', path, query, body }, signal);
  const what = `The creation of the group ${wanted.name}`;
  await followed(compute, operation, { place, what, withinMs: MADE_IN_MS }, signal);
  return groupIn(compute, cluster, place, wanted.name);
}

/** Deleting a group deletes all that is in it, so it must be empty at this moment. */
export async function demandEmpty(group: Group, signal: AbortSignal): Promise<void> {
  const [managed, requests] = await Promise.all([listManaged(group, signal), listRequests(group, signal)]);
  const left = managed.length + requests.filter(isWaiting).length;
  if (left > 0) throw new Fault('conflict', `The group ${group.name} has ${left} instances or requests.`);
}

export async function dropGroup(group: Group, signal: AbortSignal): Promise<void> {
  const { compute, place, path, name } = group;
  await demandEmpty(group, signal);
  const operation = await compute.ask<Operation>({ method: 'DELETE', path }, signal);
  const what = `The deletion of the group ${name}`;
  await followed(compute, operation, { place, what, withinMs: MADE_IN_MS }, signal);
}
