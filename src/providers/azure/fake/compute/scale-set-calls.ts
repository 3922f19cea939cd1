// Scale sets: made, changed, listed and deleted. A flexible one makes machines of its profile; machines are also put into
// it one by one. Of a uniform one there is no more than the resource: Azure keeps its instances apart from machines.
import { hash } from 'node:crypto';
import type { AzureCall } from '../read-call.ts';
import type { World } from '../world.ts';
import { checkCreation, checkPlace } from './check-creation.ts';
import type { Compute } from './compute.ts';
import { type FakeVm, shown, stateAt } from './machine.ts';
import { checkReferences } from './references.ts';
import { groupIn, lastOf, notFound, paged, underWay } from './replies.ts';
import type { FakeScaleSet } from './scale-sets.ts';

type Tree = Readonly<Record<string, unknown>>;

const [MADE_MS, REMOVED_MS] = [2_000, 2_000];

const profileOf = ({ properties }: FakeScaleSet): Tree => properties.virtualMachineProfile ?? {};
const isFlexible = ({ properties }: FakeScaleSet): boolean => properties.orchestrationMode === 'Flexible';

const machinesIn = ({ id }: FakeScaleSet, { vms, clock }: Compute): FakeVm[] =>
  vms.filter((vm) => {
    const isThere = !['gone', 'Deleting'].includes(stateAt(vm, clock.now()));
    return isThere && vm.set?.toLowerCase() === id.toLowerCase();
  });

/** As Resource Manager shows it: without secrets, and a flexible one with the number of machines that it has. */
export function shownSet(set: FakeScaleSet, compute: Compute): object {
  const { readyAtMs = 0, properties, sku, ...own } = set;
  const { osProfile, ...profile } = profileOf(set);
  const { customData: _data, adminPassword: _password, ...shownOs } = (osProfile ?? {}) as Tree;
  return {
    ...own,
    type: 'Microsoft.Compute/virtualMachineScaleSets',
    sku: { ...sku, capacity: isFlexible(set) ? machinesIn(set, compute).length : sku.capacity },
    properties: {
      ...properties,
      ...(properties.virtualMachineProfile && {
        virtualMachineProfile: { ...profile, ...(osProfile !== undefined && { osProfile: shownOs }) },
      }),
      provisioningState: compute.clock.now() >= readyAtMs ? 'Succeeded' : 'Creating',
    },
  };
}

interface Address {
  readonly properties?: Tree;
}

interface Ip {
  readonly properties?: Tree & { readonly publicIPAddressConfiguration?: Address };
}

interface Interface {
  readonly properties?: Tree & { readonly ipConfigurations?: readonly Ip[] };
}

/** The profile of a set says nothing of how an address is allocated: it is static. */
function interfaceOf({ properties, ...rest }: Interface): object {
  const ipConfigurations = (properties?.ipConfigurations ?? []).map((ip) => {
    const address = ip.properties?.publicIPAddressConfiguration;
    if (!address) return ip;
    const own = { ...address, properties: { ...address.properties, publicIPAllocationMethod: 'Static' } };
    return { ...ip, properties: { ...ip.properties, publicIPAddressConfiguration: own } };
  });
  return { ...rest, properties: { ...properties, ipConfigurations } };
}

/** One machine as the profile of its set describes it. */
function bodyOf(set: FakeScaleSet, name: string): Tree {
  const { networkProfile, hardwareProfile, osProfile, ...profile } = profileOf(set);
  const { networkInterfaceConfigurations = [], ...network } = (networkProfile ?? {}) as {
    readonly networkInterfaceConfigurations?: readonly Interface[];
  };
  const { computerNamePrefix: _prefix, ...os } = (osProfile ?? {}) as Tree;
  return {
    location: set.location,
    ...(set.zones && { zones: set.zones.slice(0, 1) }),
    tags: set.tags ?? {},
    ...(set.plan && { plan: set.plan }),
    properties: {
      ...profile,
      osProfile: { ...os, computerName: name },
      hardwareProfile: { ...(hardwareProfile as object), vmSize: set.sku.name },
      networkProfile: { ...network, networkInterfaceConfigurations: networkInterfaceConfigurations.map(interfaceOf) },
      virtualMachineScaleSet: { id: set.id },
    },
  };
}

/** Makes what is missing to the capacity; ends what is beyond it. */
function adjust(set: FakeScaleSet, group: string, compute: Compute): void {
  const machines = machinesIn(set, compute);
  for (let at = machines.length; at < set.sku.capacity; at += 1) {
    const name = `${set.name}_${hash('sha256', `${set.id} ${compute.vms.length}`).slice(0, 8)}`;
    compute.make(group, name, checkCreation(name, bodyOf(set, name)));
  }
  for (const vm of machines.slice(set.sku.capacity)) compute.end(vm);
}

export function putSet(call: AzureCall, compute: Compute): Response {
  const [group, name] = [groupIn(call.path), lastOf(call.path)];
  const key = call.path.toLowerCase();
  const known = compute.sets.get(key);
  const body = call.body as unknown as Omit<FakeScaleSet, 'id' | 'name'>;
  const set: FakeScaleSet = {
    ...body,
    id: known?.id ?? call.path,
    name,
    sku: { name: body.sku?.name ?? '', capacity: Number(body.sku?.capacity ?? 0) },
    properties: { ...body.properties, orchestrationMode: body.properties?.orchestrationMode ?? 'Uniform' },
    readyAtMs: compute.clock.now() + MADE_MS,
  };
  const { location } = set;
  checkPlace(location, set.sku.name);
  checkReferences(
    compute.references,
    { ...call.body, properties: profileOf(set) },
    { id: set.id, location, nowMs: compute.clock.now() },
  );
  if (isFlexible(set)) adjust(set, group, compute);
  compute.sets.set(key, set);
  const headers = underWay(call, compute, compute.begin(MADE_MS));
  return Response.json(shownSet(set, compute), { status: known ? 200 : 201, headers });
}

export function deleteSet(call: AzureCall, compute: Compute): Response {
  const set = compute.sets.get(call.path.toLowerCase());
  if (!set) return new Response(null, { status: 204 });
  for (const vm of machinesIn(set, compute)) compute.end(vm);
  compute.sets.delete(call.path.toLowerCase());
  return new Response(null, { status: 202, headers: underWay(call, compute, compute.begin(REMOVED_MS)) });
}

export function getSet(call: AzureCall, compute: Compute): object {
  const set = compute.sets.get(call.path.toLowerCase());
  if (!set) throw notFound(call);
  return shownSet(set, compute);
}

export const listSets = (call: AzureCall, compute: Compute, world: World): object =>
  paged(
    call,
    world,
    [...compute.sets]
      .filter(([key]) => key.startsWith(`${call.path.toLowerCase()}/`))
      .map(([, set]) => shownSet(set, compute)),
  );

/** The machines of one set. */
export function listInSet(call: AzureCall, compute: Compute, world: World): object {
  const set = compute.sets.get(call.path.replace(/\/virtualMachines$/i, '').toLowerCase());
  if (!set) throw notFound(call);
  const machines = machinesIn(set, compute).map((vm) => shown(vm, compute.clock.now()));
  return paged(call, world, machines);
}
