// The network of one machine, where its configuration names none: made before it, deleted after it. It is its own, so that
// nothing must be counted or shared. The network comes first and goes last: where it is missing, nothing is left.
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Launch, Machine } from '#core/provider.ts';
import { bestEffort } from '#rest/best-effort.ts';
import { finished, type Progress } from '#rest/retry.ts';
import { NETWORK_VERSION, type NetworkPart, type VirtualMachine } from './api.ts';
import type { VmConfig } from './config.ts';
import { findVm, type Group, type Vms } from './group.ts';
import { hasOwnNetwork, hasOwnSecurityGroup, machineNameOf, markOf, tagsFor } from './marks.ts';
import { findResource, type ResourcePlace, removeResource, resourcePath } from './resource.ts';

const ADDRESSES = '10.0.0.0/24';
const SUBNET = 'machine';
const READY_WITHIN_MS = 60 * SECOND_MS;
const GONE_WITHIN_MS = 60 * SECOND_MS;
// Longer than any creation takes.
const LOOK_EVERY_MS = 5 * MINUTE_MS;

const networkAt = (name: string): ResourcePlace => ({
  ...{ type: 'Microsoft.Network/virtualNetworks', name: `${name}-net`, apiVersion: NETWORK_VERSION },
});
const securityGroupAt = (name: string): ResourcePlace => ({
  ...{ type: 'Microsoft.Network/networkSecurityGroups', name: `${name}-nsg`, apiVersion: NETWORK_VERSION },
});

export const makesNetwork = ({ subnetId }: Pick<VmConfig, 'subnetId'>): boolean => subnetId === undefined;

/** A machine without a server to join is probed at its port. An address of the SKU Standard lets nothing in without a security group. */
export const makesSecurityGroup = (config: VmConfig, { boot }: Pick<Launch, 'boot'>): boolean =>
  makesNetwork(config) && config.networkSecurityGroupId === undefined && boot.port !== undefined && boot.token === '';

/** The ids of the subnet and the security group that are made for a machine. */
export const ownSubnetId = (group: Group, name: string): string =>
  `${resourcePath(group, networkAt(name))}/subnets/${SUBNET}`;
export const ownSecurityGroupId = (group: Group, name: string): string => resourcePath(group, securityGroupAt(name));

interface Wanted {
  readonly place: ResourcePlace;
  readonly body: object;
}

function wantedFor(config: VmConfig, launch: Launch, name: string): readonly Wanted[] {
  const { location } = config;
  const isOpen = makesSecurityGroup(config, launch);
  const tags = tagsFor(config.tags, launch, name, { hasOwnNetwork: true, hasOwnSecurityGroup: isOpen });
  const subnets = [{ name: SUBNET, properties: { addressPrefix: ADDRESSES } }];
  const network = { location, tags, properties: { addressSpace: { addressPrefixes: [ADDRESSES] }, subnets } };
  const rule = {
    ...{ priority: 100, direction: 'Inbound', access: 'Allow', protocol: 'Tcp' },
    ...{ sourceAddressPrefix: '*', sourcePortRange: '*', destinationAddressPrefix: '*' },
    destinationPortRange: String(launch.boot.port),
  };
  const securityRules = [{ name: 'health', properties: rule }];
  return [
    { place: networkAt(name), body: network },
    ...(isOpen ? [{ place: securityGroupAt(name), body: { location, tags, properties: { securityRules } } }] : []),
  ];
}

const stateOf = ({ properties }: NetworkPart): string => properties?.provisioningState ?? 'Succeeded';

/** Makes it where it is missing, and waits until machines can refer to it; a `Fault` where Azure could not make it. */
async function ensure(group: Group, { place, body }: Wanted, signal: AbortSignal): Promise<Fault | undefined> {
  const { arm } = group;
  const { apiVersion, name } = place;
  const known = await findResource<NetworkPart>(group, place, signal);
  if (known && markOf(known)?.cluster !== group.cluster)
    return new Fault('invalid', `There is a network ${name} that Muster did not make.`);
  group.seen.madeBeside.add(name);
  let now = known;
  if (!known || stateOf(known) === 'Failed') {
    const request = { method: 'PUT', path: resourcePath(group, place), apiVersion, body } as const;
    now = await arm.ask<NetworkPart>(request, signal);
  }
  const look = async (): Promise<Progress<NetworkPart>> => {
    const found = now ?? (await findResource<NetworkPart>(group, place, signal));
    now = undefined;
    // It was deleted meanwhile, or is not shown yet: the next try finds out.
    if (!found) throw new Fault('unavailable', `Azure does not show the network ${name} that it made.`);
    return /^(updating|creating|deleting)$/i.test(stateOf(found)) ? {} : { done: found };
  };
  const what = `The creation of ${name}`;
  const made = await finished({ clock: arm.clock, signal, what, withinMs: READY_WITHIN_MS }, look);
  return stateOf(made) === 'Failed' ? new Fault('exhausted', `${what} failed in Azure.`) : undefined;
}

/** Makes what the machine needs beside it; answers why not, where Azure agreed and then failed. */
export async function makeNetwork(
  group: Group,
  { config, launch, name }: { readonly config: VmConfig; readonly launch: Launch; readonly name: string },
  signal: AbortSignal,
): Promise<Fault | undefined> {
  for (const wanted of wantedFor(config, launch, name)) {
    const fault = await ensure(group, wanted, signal);
    if (fault) return fault;
  }
  return undefined;
}

/** Deletes what was made beside a machine that is gone; what is not there is a success. */
export async function removeNetwork(group: Group, name: string, signal: AbortSignal): Promise<void> {
  const { ownNetworks, madeBeside } = group.seen;
  const [network, securityGroup] = [networkAt(name), securityGroupAt(name)];
  const isThere = ownNetworks.has(name) || madeBeside.has(network.name);
  const found = await findResource<NetworkPart>(group, network, signal).catch((thrown) => {
    // Without the right to read networks none was made; a right can also be missing for a moment.
    if (Fault.from(thrown).kind === 'denied' && !isThere) return undefined;
    throw thrown;
  });
  if (found && markOf(found)?.cluster === group.cluster) {
    if (hasOwnSecurityGroup(found)) await removeResource(group, securityGroup, signal);
    await removeResource(group, network, signal);
  }
  ownNetworks.delete(name);
  for (const made of [network, securityGroup]) madeBeside.delete(made.name);
}

/** Waits until a machine is gone, and its interface with it; answers whether it is. */
export async function isGoneSoon(group: Group, name: string, signal: AbortSignal): Promise<boolean> {
  const what = `The deletion of ${name}`;
  const look = async (): Promise<Progress<true>> => ((await findVm(group, name, signal)) ? {} : { done: true });
  return finished({ clock: group.arm.clock, signal, what, withinMs: GONE_WITHIN_MS }, look).catch((thrown) => {
    if (signal.aborted) throw thrown;
    return false;
  });
}

/** Networks that an earlier process left: those that have no machine at two looks. */
async function lookForUnclaimed(group: Group, vms: Vms, signal: AbortSignal): Promise<void> {
  const { arm, cloud, cluster, path, log, seen } = group;
  const request = { path: `${path}/providers/Microsoft.Network/virtualNetworks`, apiVersion: NETWORK_VERSION };
  await bestEffort({ log, signal, warning: 'cannot look for networks of deleted machines' }, () =>
    arm.keep(`networks ${cloud}`, LOOK_EVERY_MS, async () => {
      const all = await arm.all<NetworkPart>(request, signal).catch((thrown) => {
        // Whoever may not read networks has never made one.
        if (Fault.from(thrown).kind === 'denied') return [];
        throw thrown;
      });
      const ours = all.filter((one) => hasOwnNetwork(one) && markOf(one)?.cluster === cluster);
      const names = ours.flatMap((one) => machineNameOf(one) ?? []).filter((name) => !vms.has(name));
      for (const name of names) if (seen.unclaimed.has(name)) seen.ownNetworks.add(name);
      seen.unclaimed.clear();
      for (const name of names) seen.unclaimed.add(name);
    }),
  );
}

/** What listings show of networks whose machine this process has seen and Azure has no more: each is deleted as its machine would be. */
export async function leftNetworks(group: Group, vms: Vms, signal: AbortSignal): Promise<readonly Machine[]> {
  const { ownNetworks } = group.seen;
  for (const vm of vms.values()) if (hasOwnNetwork(vm)) ownNetworks.add(vm.name);
  await lookForUnclaimed(group, vms, signal);
  const gone = [...ownNetworks].filter((name) => !vms.has(name));
  const left = await Promise.all(gone.map((name) => leftNetwork(group, name, signal)));
  return left.flatMap((machine) => machine ?? []);
}

async function leftNetwork(group: Group, name: string, signal: AbortSignal): Promise<Machine | undefined> {
  const found = await findResource<NetworkPart>(group, networkAt(name), signal);
  const mark = found && markOf(found);
  if (mark?.cluster !== group.cluster) {
    group.seen.ownNetworks.delete(name);
    return undefined;
  }
  const vm: VirtualMachine | undefined = await findVm(group, name, signal);
  // Listings are late.
  if (vm) return undefined;
  const message = 'The virtual machine is gone; the network that was made for it is left.';
  const trouble = { kind: 'unavailable', message, final: true } as const;
  return { name, mark, createdAt: group.arm.clock.now(), state: 'failed', trouble };
}
