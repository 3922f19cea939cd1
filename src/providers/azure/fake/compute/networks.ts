// Virtual networks and network security groups: put by name, ready some time later, and not deleted while an interface is
// in them.
import type { Clock } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import type { FakeOperation } from './compute.ts';
import type { Tags } from './machine.ts';
import type { References } from './references.ts';
import { LOCATIONS } from './seed-data.ts';

export type NetworkType = 'virtualNetworks' | 'networkSecurityGroups';
type Tree = Readonly<Record<string, unknown>>;

export interface FakeNetwork {
  readonly type: NetworkType;
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly location: string;
  readonly tags: Tags;
  readonly properties: Tree;
  readonly madeAtMs: number;
  readonly readyAtMs: number;
  /** It is never ready. */
  readonly isFailed: boolean;
  goneAtMs: number | undefined;
}

export interface Networks {
  /** All that ever were. */
  readonly all: FakeNetwork[];
  find(group: string, type: NetworkType, name: string): FakeNetwork | undefined;
  listed(group: string, type: NetworkType): readonly FakeNetwork[];
  put(id: string, body: Tree): { readonly network: FakeNetwork; readonly operation: FakeOperation };
  remove(network: FakeNetwork): FakeOperation;
  /** Refuses what refers to one that is not ready. */
  checkReady(ids: readonly string[], by: string): void;
}

interface NetworksOptions {
  readonly clock: Clock;
  readonly references: Pick<References, 'network'>;
  readonly settings: { readonly lagMs: number; lateNetworks: number };
  operate(afterMs: number, error?: FakeOperation['error']): FakeOperation;
  /** The ids of interfaces that refer to one of these. */
  interfacesOf(ids: readonly string[]): readonly string[];
}

const [READY_MS, GONE_MS] = [1_500, 1_500];
const ID = /\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Network\/(\w+)\/([^/]+)$/i;
const FAILURE = { code: 'InternalServerError', message: 'An error occurred.' };

interface Subnet {
  readonly name?: string;
  readonly properties?: Tree & { readonly addressPrefix?: string };
}

const subnetsOf = ({ properties }: Pick<FakeNetwork, 'properties'>): readonly Subnet[] =>
  Array.isArray(properties.subnets) ? (properties.subnets as Subnet[]) : [];

/** What others refer to it by, in small letters. */
export const referredTo = (network: FakeNetwork): string[] =>
  network.type === 'virtualNetworks'
    ? subnetsOf(network).map(({ name }) => `${network.id}/subnets/${name}`.toLowerCase())
    : [network.id.toLowerCase()];

export const isNetworkThere = ({ goneAtMs }: FakeNetwork, nowMs: number): boolean =>
  goneAtMs === undefined || nowMs < goneAtMs;

function stateOf({ goneAtMs, readyAtMs, isFailed }: FakeNetwork, nowMs: number): string {
  if (goneAtMs !== undefined) return 'Deleting';
  if (nowMs < readyAtMs) return 'Updating';
  return isFailed ? 'Failed' : 'Succeeded';
}

/** As Resource Manager shows it, with the interfaces that refer to it. */
export function shownNetwork(network: FakeNetwork, nowMs: number, interfacesOf: Interfaces): object {
  const { id, name, type, location, tags, properties } = network;
  const provisioningState = stateOf(network, nowMs);
  const subnets = subnetsOf(network).map((subnet) => {
    const subnetId = `${id}/subnets/${subnet.name}`;
    const inIt = interfacesOf([subnetId.toLowerCase()]).map((one) => ({ id: `${one}/ipConfigurations/ip` }));
    const own = { ...subnet.properties, provisioningState, ...(inIt.length > 0 && { ipConfigurations: inIt }) };
    return { ...subnet, id: subnetId, properties: own };
  });
  const users = type === 'networkSecurityGroups' ? interfacesOf([id.toLowerCase()]).map((one) => ({ id: one })) : [];
  return {
    ...{ id, name, type: `Microsoft.Network/${type}`, location, tags },
    properties: {
      ...properties,
      provisioningState,
      ...(type === 'virtualNetworks' && { subnets }),
      ...(users.length > 0 && { networkInterfaces: users }),
    },
  };
}

type Interfaces = NetworksOptions['interfacesOf'];

function checkBody(type: string, { location, properties }: Tree): void {
  if (!LOCATIONS.includes(String(location)))
    throw refusal(
      'LocationNotAvailableForResourceType',
      `The provided location '${location}' is not available for resource type 'Microsoft.Network/${type}'.`,
    );
  if (type !== 'virtualNetworks') return;
  const { addressSpace } = (properties ?? {}) as { addressSpace?: { addressPrefixes?: readonly string[] } };
  if (!addressSpace?.addressPrefixes?.length)
    throw refusal('InvalidRequestFormat', 'Cannot parse the request. An address space is required.');
  for (const { name, properties: own } of subnetsOf({ properties: properties as Tree }))
    if (!/^[\d.]+\/\d+$/.test(own?.addressPrefix ?? ''))
      throw refusal('NetcfgInvalidSubnet', `Subnet '${name}' is not valid in virtual network.`);
}

const inUse = (what: string, code: string, users: readonly string[]): Error =>
  refusal(code, `${what} is in use by ${users.join(', ')} and cannot be deleted.`);

export function openNetworks({ clock, references, settings, operate, interfacesOf }: NetworksOptions): Networks {
  const all: FakeNetwork[] = [];
  const isThere = (network: FakeNetwork): boolean => isNetworkThere(network, clock.now());
  const isIn = (network: FakeNetwork, group: string, type: string): boolean =>
    network.type === type && network.group.toLowerCase() === group.toLowerCase();

  const find: Networks['find'] = (group, type, name) =>
    all.find((one) => isIn(one, group, type) && one.name.toLowerCase() === name.toLowerCase() && isThere(one));

  function replace(before: FakeNetwork, after: FakeNetwork): void {
    const kept = referredTo(after);
    const lost = referredTo(before).filter((id) => !kept.includes(id));
    const users = interfacesOf(lost);
    if (users.length > 0) throw inUse(`Subnet ${lost[0]}`, 'InUseSubnetCannotBeDeleted', users);
    for (const id of lost) references.network.delete(id);
    all.splice(all.indexOf(before), 1);
  }

  return {
    all,
    find,
    listed: (group, type) =>
      all.filter((one) => isIn(one, group, type) && isThere(one) && clock.now() - one.madeAtMs >= settings.lagMs),
    put(id, body) {
      const [, group = '', type = '', name = ''] = ID.exec(id) ?? [];
      checkBody(type, body);
      const known = find(group, type as NetworkType, name);
      if (known && stateOf(known, clock.now()) !== 'Succeeded' && !known.isFailed)
        throw refusal('RetryableError', 'A retryable error occurred.', 429);
      const isFailed = settings.lateNetworks > 0;
      settings.lateNetworks = Math.max(0, settings.lateNetworks - 1);
      const { location = '', tags = {}, properties = {} } = body as Partial<FakeNetwork>;
      const network: FakeNetwork = {
        ...{ type: type as NetworkType, id, name, group, location, tags, properties, isFailed },
        madeAtMs: known?.madeAtMs ?? clock.now(),
        readyAtMs: clock.now() + READY_MS,
        goneAtMs: undefined,
      };
      if (known) replace(known, network);
      all.push(network);
      for (const one of referredTo(network)) references.network.set(one, location);
      return { network, operation: operate(READY_MS, isFailed ? FAILURE : undefined) };
    },
    remove(network) {
      const users = interfacesOf(referredTo(network));
      const isSubnet = network.type === 'virtualNetworks';
      if (users.length > 0)
        throw isSubnet
          ? inUse(`Subnet ${subnetsOf(network)[0]?.name}`, 'InUseSubnetCannotBeDeleted', users)
          : inUse(`Network security group ${network.id}`, 'InUseNetworkSecurityGroupCannotBeDeleted', users);
      network.goneAtMs ??= clock.now() + GONE_MS;
      for (const id of referredTo(network)) references.network.delete(id);
      return operate(GONE_MS);
    },
    checkReady(ids, by) {
      const nowMs = clock.now();
      for (const network of all) {
        const state = isThere(network) ? stateOf(network, nowMs) : 'Succeeded';
        if (state === 'Succeeded' || !referredTo(network).some((id) => ids.includes(id))) continue;
        const words = `Cannot proceed with operation because resource ${network.id} used by resource ${by} is not in Succeeded state. Resource is in ${state} state.`;
        throw refusal('ReferencedResourceNotProvisioned', words);
      }
    },
  };
}
