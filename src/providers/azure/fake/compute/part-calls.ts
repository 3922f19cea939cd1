// Interfaces, addresses and disks, which are made along with machines; virtual networks and security groups, which are put
// by name. What is in use cannot be deleted.
import { refusal } from '#fakes/refusal.ts';
import type { AzureCall } from '../read-call.ts';
import type { World } from '../world.ts';
import type { Compute } from './compute.ts';
import { type FakePart, partId, stateAt } from './machine.ts';
import { type FakeNetwork, type NetworkType, shownNetwork } from './networks.ts';
import { groupIn, lastOf, notFound, paged, underWay } from './replies.ts';

const TYPE = /\/(networkInterfaces|publicIPAddresses|disks|virtualNetworks|networkSecurityGroups)\b/i;

/** The type of part that a path is about. */
export const partTypeIn = (path: string): FakePart['type'] | NetworkType =>
  TYPE.exec(path)?.[1] as FakePart['type'] | NetworkType;

const isNetwork = (type: FakePart['type'] | NetworkType): type is NetworkType =>
  type === 'virtualNetworks' || type === 'networkSecurityGroups';

/** The interface that an address is allocated to. */
const interfaceOf = ({ vm, group }: FakePart, { partsIn }: Compute): FakePart | undefined =>
  partsIn(group, 'networkInterfaces').find((one) => one.vm === vm);

function ipConfigurationsOf(part: FakePart, { partsIn }: Compute): object {
  const { ip, uses = [], vm, group } = part;
  const address = partsIn(group, 'publicIPAddresses').find((one) => one.vm === vm);
  const [subnet, securityGroup] = [/\/subnets\//, /\/networksecuritygroups\//].map((kind) =>
    uses.find((id) => kind.test(id)),
  );
  const properties = {
    privateIPAddress: ip,
    primary: true,
    ...(subnet !== undefined && { subnet: { id: subnet } }),
    ...(address && { publicIPAddress: { id: partId(address) } }),
  };
  return {
    ipConfigurations: [{ id: `${partId(part)}/ipConfigurations/ip`, name: 'ip', properties }],
    ...(securityGroup !== undefined && { networkSecurityGroup: { id: securityGroup } }),
  };
}

function shownPart(part: FakePart, compute: Compute): object {
  const { type, name, tags, vm, ip } = part;
  const holder = ['gone', 'Deleting'].includes(stateAt(vm, compute.clock.now())) ? undefined : { id: vm.id };
  const allocatedTo = type === 'publicIPAddresses' ? interfaceOf(part, compute) : undefined;
  const properties = {
    provisioningState: 'Succeeded',
    ...(type === 'networkInterfaces' && {
      ...ipConfigurationsOf(part, compute),
      ...(holder && { virtualMachine: holder }),
    }),
    ...(type === 'publicIPAddresses' && { ipAddress: ip }),
    ...(allocatedTo && { ipConfiguration: { id: `${partId(allocatedTo)}/ipConfigurations/ip` } }),
  };
  return {
    ...{ id: partId(part), name, location: vm.location, tags, properties },
    ...(type === 'disks' && holder && { managedBy: holder.id }),
  };
}

const shown = (network: FakeNetwork, { clock, interfacesOf }: Compute): object =>
  shownNetwork(network, clock.now(), interfacesOf);

export function putPart(call: AzureCall, compute: Compute): Response {
  const [group, name, type] = [groupIn(call.path), lastOf(call.path), partTypeIn(call.path) as NetworkType];
  const isKnown = compute.networks.find(group, type, name) !== undefined;
  const { network, operation } = compute.networks.put(call.path, call.body);
  const headers = underWay(call, compute, operation);
  return Response.json(shown(network, compute), { status: isKnown ? 200 : 201, headers });
}

export function getPart(call: AzureCall, compute: Compute): object {
  const type = partTypeIn(call.path) as NetworkType;
  const network = compute.networks.find(groupIn(call.path), type, lastOf(call.path));
  if (!network) throw notFound(call);
  return shown(network, compute);
}

export function listParts(call: AzureCall, compute: Compute, world: World): object {
  const [group, type] = [groupIn(call.path), partTypeIn(call.path)];
  const items = isNetwork(type)
    ? compute.networks.listed(group, type).map((network) => shown(network, compute))
    : compute.listedParts(group, type).map((part) => shownPart(part, compute));
  return paged(call, world, items);
}

function removePart(name: string, part: FakePart, compute: Compute) {
  if (stateAt(part.vm, compute.clock.now()) !== 'gone')
    throw refusal('NicInUse', `${name} is used by the machine ${part.vm.name}.`, 400);
  if (part.type === 'publicIPAddresses' && interfaceOf(part, compute))
    throw refusal('PublicIPAddressCannotBeDeleted', `${name} is still allocated to an interface.`, 400);
  return compute.endPart(part);
}

export function deletePart(call: AzureCall, compute: Compute): Response {
  const [group, name, type] = [groupIn(call.path), lastOf(call.path), partTypeIn(call.path)];
  const network = isNetwork(type) ? compute.networks.find(group, type, name) : undefined;
  const part = isNetwork(type) ? undefined : compute.partsIn(group, type).find((one) => one.name === name);
  if (!network && !part) return new Response(null, { status: 204 });
  const operation = network ? compute.networks.remove(network) : removePart(name, part as FakePart, compute);
  return new Response(null, { status: 202, headers: underWay(call, compute, operation) });
}
