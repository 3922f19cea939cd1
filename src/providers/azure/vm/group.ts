// The machines of one resource group.
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { Arm } from '../arm/client.ts';
import { COMPUTE_VERSION, type VirtualMachine } from './api.ts';
import { markOf } from './marks.ts';

export interface Group extends Pick<Context, 'cluster' | 'log'> {
  readonly arm: Arm;
  /** What names its listing. */
  readonly cloud: string;
  /** `/subscriptions/…/resourceGroups/velda`. */
  readonly path: string;
}

export function groupAt(arm: Arm, resourceGroup: string, { cluster, log }: Context): Group {
  const { host, subscriptionId } = arm;
  return {
    arm,
    cluster,
    log,
    cloud: `azure:${host}:${subscriptionId}/${resourceGroup.toLowerCase()}`,
    path: `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`,
  };
}

export const vmPath = ({ path }: Group, name: string): string =>
  `${path}/providers/Microsoft.Compute/virtualMachines/${encodeURIComponent(name)}`;

export type Vms = ReadonlyMap<string, VirtualMachine>;

/** All machines of our cluster, by name; Resource Manager has no filter by tag here. `holdsMs`: how old a listing will do. */
export function listVms({ arm, cloud, cluster, path }: Group, holdsMs: number, signal: AbortSignal): Promise<Vms> {
  return arm.keep(`machines ${cloud}`, holdsMs, async () => {
    const request = { path: `${path}/providers/Microsoft.Compute/virtualMachines`, apiVersion: COMPUTE_VERSION };
    const all = await arm.all<VirtualMachine>(request, signal);
    return new Map(all.filter((vm) => markOf(vm)?.cluster === cluster).map((vm) => [vm.name, vm]));
  });
}

/** The machine of that name, of whomever; nothing where there is none. */
export async function findVm(group: Group, name: string, signal: AbortSignal): Promise<VirtualMachine | undefined> {
  try {
    return await group.arm.ask<VirtualMachine>({ path: vmPath(group, name), apiVersion: COMPUTE_VERSION }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  }
}
