// The container groups of one resource group.
import type { Context } from '#core/provider.ts';
import type { Arm } from '../arm/client.ts';
import { markOf } from '../vm/marks.ts';
import { findResource, resourcePath } from '../vm/resource.ts';
import { CONTAINERS_VERSION, type ContainerGroup, GROUP_TYPE } from './api.ts';
import type { View } from './views.ts';

export interface Place extends Pick<Context, 'cluster' | 'log'> {
  readonly arm: Arm;
  /** What names its listing. */
  readonly cloud: string;
  /** `/subscriptions/…/resourceGroups/velda`. */
  readonly path: string;
  /** What this process has seen of groups by themselves, by name; a new process sees it anew. */
  readonly views: Map<string, View>;
}

export function placeAt(arm: Arm, resourceGroup: string, { cluster, log, shared }: Context): Place {
  const { host, subscriptionId } = arm;
  const cloud = `azure-containers:${host}:${subscriptionId}/${resourceGroup.toLowerCase()}`;
  return {
    ...{ arm, cluster, log, cloud },
    path: `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`,
    views: shared(`views ${cloud}`, () => new Map()),
  };
}

export const groupPath = (place: Place, name: string): string => resourcePath(place, { type: GROUP_TYPE, name });

export type Groups = ReadonlyMap<string, ContainerGroup>;

/** All groups of our cluster, by name; Resource Manager has no filter by tag here. `holdsMs`: how old a listing will do. */
export function listGroups(
  { arm, cloud, cluster, path }: Place,
  holdsMs: number,
  signal: AbortSignal,
): Promise<Groups> {
  return arm.keep(`groups ${cloud}`, holdsMs, async () => {
    const request = { path: `${path}/providers/${GROUP_TYPE}`, apiVersion: CONTAINERS_VERSION };
    const all = await arm.all<ContainerGroup>(request, signal);
    return new Map(all.filter((one) => markOf(one)?.cluster === cluster).map((one) => [one.name, one]));
  });
}

/** The group of that name, of whomever; nothing where there is none. */
export const findGroup = (place: Place, name: string, signal: AbortSignal): Promise<ContainerGroup | undefined> =>
  findResource<ContainerGroup>(place, { type: GROUP_TYPE, name, apiVersion: CONTAINERS_VERSION }, signal);
