// The instances of our cluster in one project.
import { Fault } from '#core/fault.ts';
import type { Instance } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';
import { CLUSTER_LABEL, readLabels } from '../compute/marks.ts';

interface Scope {
  readonly instances?: readonly Instance[];
  readonly warning?: { readonly code?: string };
}

interface Page {
  readonly items?: Readonly<Record<string, Scope>>;
  readonly unreachables?: readonly string[];
}

const ADDRESSES = 'networkInterfaces(networkIP,accessConfigs/natIP)';
// Of `resourceStatus` all: a field that this version of the API does not know would fail the listing.
const ENDS = 'lastStartTimestamp,scheduling(maxRunDuration,instanceTerminationAction),resourceStatus';
const SHOWN = `id,name,status,zone,creationTimestamp,labels,${ADDRESSES},${ENDS}`;
const MASK = `nextPageToken,unreachables,items/*/warning/code,items/*/instances(${SHOWN})`;
const PAGE = 500;

/** A zone that does not answer is missing from the page, with a warning: then nothing is known of its machines. */
export function instancesIn({ items = {}, unreachables = [] }: Page): Instance[] {
  const silent = Object.entries(items).filter(([, { warning }]) => warning?.code === 'UNREACHABLE');
  const [missing] = [...unreachables, ...silent.map(([scope]) => scope)];
  if (missing !== undefined) throw new Fault('unavailable', `Compute Engine did not list the instances of ${missing}.`);
  return Object.values(items).flatMap(({ instances = [] }) => instances);
}

/** All instances of our cluster, of every zone. */
export async function listInstances(compute: Compute, cluster: string, signal: AbortSignal): Promise<Instance[]> {
  const query = { filter: `labels.${CLUSTER_LABEL}=${cluster}`, maxResults: PAGE, fields: MASK };
  const found = await compute.all({ path: '/aggregated/instances', query, items: instancesIn }, signal);
  // Asked for by this label: without it the answer is not whole, and every instance would count as gone.
  const bare = found.find(({ labels }) => labels?.[CLUSTER_LABEL] !== cluster);
  if (bare)
    throw new Fault('unavailable', `Compute Engine listed ${bare.name} without the labels that were asked for.`);
  return found.filter(({ labels }) => readLabels(labels)?.cluster === cluster);
}

/** One instance by its name, without the lag of listings; nothing where there is none. */
export async function findInstance(
  compute: Compute,
  { zone, name }: { readonly zone: string; readonly name: string },
  signal: AbortSignal,
): Promise<Instance | undefined> {
  try {
    return await compute.ask<Instance>({ path: `/zones/${zone}/instances/${name}` }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  }
}
