// A machine as the profile of its set describes it, put into the set by name.
import { hash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Launch } from '#core/provider.ts';
import { customDataFor, INLINE_NETWORK_VERSION, linuxLogin } from '../vm/body.ts';
import { tagsFor } from '../vm/marks.ts';
import type { VmssConfig } from './config.ts';
import type { ScaleSet, Tree } from './scale-set.ts';

// What a machine has under the same names as the profile of a set.
const ALIKE = [
  'securityProfile',
  'diagnosticsProfile',
  'licenseType',
  'priority',
  'billingProfile',
  'scheduledEventsProfile',
  'userData',
  'capacityReservation',
  'applicationProfile',
] as const;

const treeOf = (value: unknown): Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {};
const listOf = (value: unknown): readonly Tree[] => (Array.isArray(value) ? value.map(treeOf) : []);

const profileOf = ({ properties }: ScaleSet): Tree => properties.virtualMachineProfile ?? {};

export const isSpot = (set: ScaleSet): boolean => profileOf(set).priority === 'Spot';

/** What is made along with a machine, with which name and tags. */
interface Own {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
}

function storageOf({ storageProfile }: Tree, { name }: Own): Tree {
  const storage = treeOf(storageProfile);
  const goesAlong = { deleteOption: 'Delete' };
  // A name of the profile would be that of one disk: the second machine would be refused.
  const dataDisks = listOf(storage.dataDisks).map((disk, at) => ({
    ...disk,
    ...goesAlong,
    name: `${name}-data-${disk.lun ?? at}`,
  }));
  return {
    ...storage,
    osDisk: { ...treeOf(storage.osDisk), ...goesAlong, name: `${name}-os`, createOption: 'FromImage' },
    ...(dataDisks.length > 0 && { dataDisks }),
  };
}

function addressOf(written: unknown, { name, tags }: Own): Tree {
  const { dnsSettings: _label, ...properties } = treeOf(treeOf(written).properties);
  // The profile of a set names no way of allocation; of an address of the SKU Standard Azure takes no other.
  const own = { publicIPAllocationMethod: 'Static', ...properties, deleteOption: 'Delete' };
  return { sku: { name: 'Standard' }, ...treeOf(written), name, tags, properties: own };
}

function ipOf({ name, properties }: Tree, own: Own): Tree {
  // Ports of a load balancer that a set hands out are not for single machines.
  const { publicIPAddressConfiguration: address, loadBalancerInboundNatPools: _pools, ...rest } = treeOf(properties);
  return {
    name,
    properties: { ...rest, ...(address !== undefined && { publicIPAddressConfiguration: addressOf(address, own) }) },
  };
}

function networkOf({ networkProfile }: Tree, { name, tags }: Own): Tree {
  const interfaces = listOf(treeOf(networkProfile).networkInterfaceConfigurations).map(({ properties }, at) => {
    const tail = at === 0 ? '' : `-${at + 1}`;
    const ips = listOf(treeOf(properties).ipConfigurations);
    const ipConfigurations = ips.map((ip, place) =>
      ipOf(ip, { name: `${name}-ip${tail}${place === 0 ? '' : `-${place + 1}`}`, tags }),
    );
    return {
      name: `${name}-nic${tail}`,
      tags,
      properties: { ...treeOf(properties), deleteOption: 'Delete', ipConfigurations },
    };
  });
  return { networkApiVersion: INLINE_NETWORK_VERSION, networkInterfaceConfigurations: interfaces };
}

/** The login of the set where it has one with a key: a password is never shown. */
function loginOf({ osProfile }: Tree, config: VmssConfig): object {
  const { adminUsername, linuxConfiguration, windowsConfiguration } = treeOf(osProfile);
  if (windowsConfiguration !== undefined)
    throw new Fault('unsupported', `The machines of the scale set ${config.vmssName} are made for Windows.`, {
      remedy: 'Name a scale set with an image of Linux.',
    });
  const keys = listOf(treeOf(treeOf(linuxConfiguration).ssh).publicKeys);
  return keys.length > 0 && config.sshPublicKey === undefined
    ? { adminUsername, linuxConfiguration }
    : linuxLogin(config);
}

/** One of the zones of the set, the same at each repetition. */
function zonesOf({ zones = [] }: ScaleSet, name: string): readonly string[] {
  const zone = zones[Number.parseInt(hash('sha256', name).slice(0, 8), 16) % Math.max(1, zones.length)];
  return zone === undefined ? [] : [zone];
}

function identityOf({ identity }: ScaleSet): object {
  if (!identity?.type || identity.type === 'None') return {};
  const ids = Object.keys(identity.userAssignedIdentities ?? {});
  const assigned = ids.length > 0 && { userAssignedIdentities: Object.fromEntries(ids.map((id) => [id, {}])) };
  return { identity: { type: identity.type, ...assigned } };
}

/** What of a set forms its machines; another text is another form. */
export function formOf(set: ScaleSet): string {
  const { timeCreated: _created, ...profile } = profileOf(set);
  return JSON.stringify([set.sku?.name, set.zones ?? [], identityOf(set), profile, ...(set.plan ? [set.plan] : [])]);
}

/** The request for one machine of the set. */
export function bodyInSet(config: VmssConfig, launch: Launch, { name, set }: { name: string; set: ScaleSet }): object {
  const profile = profileOf(set);
  const own = { name, tags: tagsFor(config.tags, launch, name) };
  const zones = zonesOf(set, name);
  const customData = customDataFor(config, launch, { name, isSpot: isSpot(set) });
  return {
    location: set.location,
    tags: own.tags,
    ...(zones.length > 0 && { zones }),
    ...identityOf(set),
    ...(set.plan && { plan: set.plan }),
    properties: {
      ...Object.fromEntries(ALIKE.flatMap((key) => (profile[key] === undefined ? [] : [[key, profile[key]]]))),
      // Deleted, not deallocated: what stays behind would count against the quota and the pool.
      ...(isSpot(set) && { evictionPolicy: 'Delete' }),
      virtualMachineScaleSet: { id: set.id },
      hardwareProfile: { ...treeOf(profile.hardwareProfile), vmSize: set.sku?.name },
      storageProfile: storageOf(profile, own),
      osProfile: { computerName: name, customData, ...loginOf(profile, config) },
      networkProfile: networkOf(profile, own),
    },
  };
}
