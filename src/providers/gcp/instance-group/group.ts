// One managed instance group.
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { ManagedInstance } from '../compute/api.ts';
import { accountOf, type Compute, computeAt } from '../compute/client.ts';
import { type MarkedInstance, readManaged } from '../compute/marks.ts';
import { advised } from '../compute/places.ts';
import { type GroupConfig, placeOfGroup } from './config.ts';

export interface MarkedManaged extends MarkedInstance {
  readonly managed: ManagedInstance;
}

export interface Group {
  readonly compute: Compute;
  readonly cluster: string;
  /** What shares its listing. */
  readonly cloud: string;
  readonly name: string;
  /** `zones/us-central1-a` or `regions/us-central1`. */
  readonly place: string;
  /** Below the project. */
  readonly path: string;
}

export function groupAt(config: GroupConfig, context: Context): Group {
  const compute = computeAt(config.project, config.endpoint, context);
  return groupIn(compute, context.cluster, placeOfGroup(config), config.instanceGroup);
}

export function groupIn(compute: Compute, cluster: string, place: string, name: string): Group {
  const cloud = `${accountOf(compute)}:${place.replace('/', ':')}:${name}`;
  return { compute, cluster, cloud, name, place, path: `/${place}/instanceGroupManagers/${name}` };
}

/** A refusal of the group, with the nearest zone, region or group where there is none of that name. */
export function advisedOn({ compute, place, name }: Group, fault: Fault, signal: AbortSignal): Promise<Fault> {
  const [places = '', written = ''] = place.split('/');
  const names = [
    { key: places.slice(0, -1), written, path: `/${places}` },
    { key: 'instance_group', written: name, path: `/${place}/instanceGroupManagers` },
  ];
  return advised(compute, fault, names, signal);
}

// The most that a page may hold.
const PAGE = 500;
interface Page {
  readonly managedInstances?: readonly ManagedInstance[];
}

/** All its instances, whoever made them. */
export async function listManaged(group: Group, signal: AbortSignal): Promise<readonly ManagedInstance[]> {
  if (signal.aborted) throw new Fault('unavailable', `The listing of ${group.name} was cancelled.`);
  const items = ({ managedInstances = [] }: Page) => managedInstances;
  // No `fields`: a part of an answer may lack the marks, and every instance would count as gone. Their scripts are long and alike, and come compressed.
  const listing = {
    method: 'POST',
    path: `${group.path}/listManagedInstances`,
    query: { maxResults: PAGE },
    items,
  } as const;
  return group.compute.all(listing, signal);
}

/** All instances with a whole mark, of whatever cluster, by the name of the worker. */
export async function listGroup(group: Group, signal: AbortSignal): Promise<ReadonlyMap<string, MarkedManaged>> {
  const instances = await listManaged(group, signal);
  const marked = instances.flatMap((managed) => {
    const found = readManaged(managed);
    return found ? [[found.name, { ...found, managed }] as const] : [];
  });
  return new Map(marked);
}
