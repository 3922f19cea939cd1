// The machines of one resource group.
import { Fault } from '#core/fault.ts';
import type { Context } from '#core/provider.ts';
import type { Arm } from '../arm/client.ts';
import { COMPUTE_VERSION, type VirtualMachine } from './api.ts';
import { markOf } from './marks.ts';

/** What this process has seen of a group; a new process sees it anew. */
export interface Seen {
  /** Machines with a network of their own that were listed or deleted, until that is gone. */
  readonly ownNetworks: Set<string>;
  /** Networks and security groups that this process has made for machines, until they are gone. */
  readonly madeBeside: Set<string>;
  /** Networks without a machine at the last look: so has one whose machine is being made. */
  readonly unclaimed: Set<string>;
  /** The addresses of machines with a port, by the ids of the machines. */
  readonly addresses: Map<string, readonly string[]>;
}

export interface Group extends Pick<Context, 'cluster' | 'log'> {
  readonly arm: Arm;
  /** What names its listing. */
  readonly cloud: string;
  /** `/subscriptions/…/resourceGroups/velda`. */
  readonly path: string;
  readonly seen: Seen;
}

export function groupAt(arm: Arm, resourceGroup: string, { cluster, log, shared }: Context): Group {
  const { host, subscriptionId } = arm;
  const cloud = `azure:${host}:${subscriptionId}/${resourceGroup.toLowerCase()}`;
  return {
    arm,
    cluster,
    log,
    cloud,
    path: `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`,
    seen: shared(`seen ${cloud}`, () => ({
      ownNetworks: new Set(),
      madeBeside: new Set(),
      unclaimed: new Set(),
      addresses: new Map(),
    })),
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
