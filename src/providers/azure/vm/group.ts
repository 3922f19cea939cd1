// One resource group as this process sees it: what it lists, and what was asked of it and is not listed yet.
import { Fault } from '#core/fault.ts';
import type { Context, Machine, Mark } from '#core/provider.ts';
import type { Followed } from '#rest/follow-late.ts';
import type { Arm } from '../arm/client.ts';
import { COMPUTE_VERSION, type Operation, type Part, type VirtualMachine } from './api.ts';
import { markOf } from './marks.ts';

/** A machine that Azure agreed to make. */
export interface Promised extends Followed {
  readonly mark: Mark;
  /** The address of the operation that makes it. */
  readonly operation: string | undefined;
  /** What the operation came to, once it is over. */
  ended: Operation | undefined;
}

/** A complete listing. */
export interface Snapshot {
  readonly startedMs: number;
  /** Those of our cluster, by name. */
  readonly vms: ReadonlyMap<string, VirtualMachine>;
}

/** A part without its machine: an interface, an address, a disk. */
export interface Leftover {
  readonly kind: 'interface' | 'address' | 'disk';
  readonly part: Part;
  readonly firstSeenMs: number;
}

export interface Group {
  readonly arm: Arm;
  readonly cluster: string;
  /** `/subscriptions/…/resourceGroups/velda`. */
  readonly path: string;
  readonly log: Context['log'];
  last: Snapshot | undefined;
  /** By name, until a listing shows it running. */
  readonly promised: Map<string, Promised>;
  /** By name: what was promised and is not there, until it is deleted. */
  readonly failed: Map<string, Machine>;
  /** By id of the machine: what became of it, where Azure shows it as failed. */
  readonly reasons: Map<string, { readonly machine: Partial<Machine>; readonly atMs: number }>;
  /** By id of the part. */
  leftovers: ReadonlyMap<string, Leftover>;
  leftoversLookedMs: number;
  /** Told of each promise, where someone follows them. */
  follower: (() => void) | undefined;
}

/** What names the listing: a resource group of a subscription. */
export const cloudOf = ({ host, subscriptionId }: Arm, resourceGroup: string): string =>
  `azure:${host}:${subscriptionId}/${resourceGroup.toLowerCase()}`;

/** The same for all that one server opens on one resource group, whatever the kind. */
export function groupAt(arm: Arm, resourceGroup: string, context: Context): Group {
  return context.shared<Group>(`group ${cloudOf(arm, resourceGroup)}`, () => ({
    arm,
    cluster: context.cluster,
    path: `/subscriptions/${arm.subscriptionId}/resourceGroups/${resourceGroup}`,
    log: context.log,
    last: undefined,
    promised: new Map(),
    failed: new Map(),
    reasons: new Map(),
    leftovers: new Map(),
    leftoversLookedMs: Number.NEGATIVE_INFINITY,
    follower: undefined,
  }));
}

export const vmPath = ({ path }: Group, name: string): string =>
  `${path}/providers/Microsoft.Compute/virtualMachines/${encodeURIComponent(name)}`;

/** All machines of our cluster; Resource Manager has no filter by tag here. */
export async function look(group: Group, signal: AbortSignal): Promise<Snapshot> {
  const { arm, cluster, path } = group;
  if (signal.aborted) throw new Fault('unavailable', 'The listing was cancelled.');
  const startedMs = arm.clock.monotonic();
  const request = { path: `${path}/providers/Microsoft.Compute/virtualMachines`, apiVersion: COMPUTE_VERSION };
  const all = await arm.all<VirtualMachine>(request, signal);
  const ours = all.filter((vm) => markOf(vm)?.cluster === cluster);
  const snapshot = { startedMs, vms: new Map(ours.map((vm) => [vm.name, vm])) };
  if ((group.last?.startedMs ?? Number.NEGATIVE_INFINITY) <= startedMs) group.last = snapshot;
  return snapshot;
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
