// How the slice gets at the fake Azure: pools in App Configuration, machines in a resource group.
import { noLimits } from '#fakes/limits.ts';
import type { Place, SliceCloudOptions, SliceDocuments, SliceMachine } from '#sim/slice/cloud.ts';
import type { SliceSuite } from '../../../../conformance/slice-world.ts';
import azure from '../../index.ts';
import { machineNameOf, markOf } from '../../vm/marks.ts';
import { openStore } from '../app-configuration/store.ts';
import type { WantedVm } from '../compute/check-creation.ts';
import type { Compute } from '../compute/compute.ts';
import { bootable, type FakePart, type FakeVm, isPartThere, stateAt } from '../compute/machine.ts';
import { type FakeNetwork, isNetworkThere } from '../compute/networks.ts';
import { type FakeAzure, openFakeAzure, publishedLimits } from '../fake-azure.ts';
import type { AzureCall } from '../read-call.ts';
import { addSet, GPU, GROUP, LATER_PAGE, SECRET, SET, SUBSCRIPTION, VARIABLES } from '../testing.ts';

// Nothing of a machine that failed runs or is paid for; but it must not stay.
const FAILED_FOR_MS = 60_000;
// A network is made before its machine.
const MADE_WITHIN_MS = 3 * 60_000;

function machineOf(vm: FakeVm, { stop }: Pick<Compute, 'stop'>): SliceMachine {
  return {
    ...bootable(vm, () => stop(vm)),
    name: vm.name,
    mark: markOf(vm),
    exists(nowMs) {
      const state = stateAt(vm, nowMs);
      return state === 'Creating' || state === 'Succeeded'
        ? vm.failure === undefined
        : state === 'Failed' && nowMs - vm.madeAtMs > FAILED_FOR_MS;
    },
  };
}

/** A part that outlives its machine counts as a machine: in the end there must be none. */
function strandedOf(part: FakePart): SliceMachine {
  return {
    id: part.name,
    name: machineNameOf(part) ?? part.name,
    mark: markOf(part),
    state: () => 'off',
    nextChangeMs: () => undefined,
    scripts: () => [],
    exists: (nowMs) => stateAt(part.vm, nowMs) === 'gone' && isPartThere(part, nowMs),
  };
}

const MADE_BY_HAND: Omit<WantedVm, 'tags'> = {
  location: 'westeurope',
  zones: undefined,
  size: 'Standard_D2s_v5',
  set: undefined,
  isSpot: false,
  customData: '',
  plan: undefined,
  properties: {},
  parts: [],
};

/** Whether a network has outlived its machine, or has never got one. */
function isLeft(network: FakeNetwork, { vms, clock }: Pick<Compute, 'vms' | 'clock'>): boolean {
  const nowMs = clock.now();
  if (!isNetworkThere(network, nowMs)) return false;
  const made = vms.filter(({ name }) => name === machineNameOf(network));
  return made.length > 0
    ? made.every((vm) => stateAt(vm, nowMs) === 'gone')
    : nowMs - network.madeAtMs > MADE_WITHIN_MS;
}

/** Such a network counts as a machine. */
function leftNetworkOf(network: FakeNetwork): SliceMachine {
  const { name } = network;
  return {
    ...{ id: name, name, mark: markOf(network) },
    state: () => 'off',
    nextChangeMs: () => undefined,
    scripts: () => [],
    exists: (nowMs) => isNetworkThere(network, nowMs),
  };
}

/** Machines that others make in the group, some with a part of our mark. */
function addForeign({ make }: Compute, cluster: string): string[] {
  const most = { 'muster-pool': 'p', 'muster-shape': 's', 'muster-name': 'x' };
  const tagSets = [
    {},
    { Pool: 'gpu' },
    most,
    { ...most, 'muster-cluster': 'cluster9' },
    { 'muster-cluster': cluster },
  ] as readonly Readonly<Record<string, string>>[];
  return tagSets.map((tags, at) => make(GROUP, `by-hand-${at}`, { ...MADE_BY_HAND, tags }).vm.name);
}

const PLACES: Readonly<Record<Place, { readonly endpoint: string; readonly configPrefix: string }>> = {
  pools: { endpoint: 'https://velda-pools.azconfig.io', configPrefix: 'pools/' },
  other: { endpoint: 'https://velda-pools.azconfig.io', configPrefix: 'other/' },
  mistyped: { endpoint: 'https://velda-pools.azconfig.io', configPrefix: 'pool/' },
  elsewhere: { endpoint: 'https://velda-other.azconfig.io', configPrefix: 'pools/' },
};

function documentsOf({ world }: FakeAzure): SliceDocuments {
  const kind = azure.sources.azure;
  for (const name of ['velda-pools', 'velda-other']) world.stores.set(name, openStore(name, world.clock));
  const storeOf = (place: Place) => world.stores.get(new URL(PLACES[place].endpoint).host.split('.')[0] ?? '');
  const keyOf = (place: Place, name: string): string => `${PLACES[place].configPrefix}${name}`;
  return {
    async open(place, context) {
      const config = kind.config.parse(PLACES[place]);
      return { kind: 'azure', place: kind.place?.(config), source: await kind.open(config, context) };
    },
    write(place, name, text) {
      storeOf(place)?.put(keyOf(place, name), text);
      return keyOf(place, name);
    },
    erase: (place, name) => void storeOf(place)?.remove(keyOf(place, name)),
    bad: {
      text: 'name: odd\nauto_scaler:\n  max_agents: many\n',
      version: /^[\w-]{43}$/,
      place: 'line 3, column 15: auto_scaler.max_agents',
    },
    laterPage: {
      action: 'appConfiguration.kvList',
      when: ({ params }: AzureCall) => params.after !== undefined,
      what: { kind: 'error', code: 'Internal', status: 500 },
    },
  };
}

export function openSliceCloud(
  { clock, isLimited, ...options }: SliceCloudOptions,
  prepare?: (fake: FakeAzure) => void,
) {
  const fake = openFakeAzure(clock, { ...options, limits: isLimited ? publishedLimits : noLimits });
  const { compute, proofs } = fake.world;
  proofs.set('app1', SECRET);
  prepare?.(fake);
  return {
    fake,
    machines: () => [
      ...compute.vms.map((vm) => machineOf(vm, compute)),
      ...compute.parts.filter((part) => !part.goesAlong).map(strandedOf),
      ...compute.networks.all.filter((network) => isLeft(network, compute)).map(leftNetworkOf),
    ],
    watch: (changed: (machine: SliceMachine) => void) => void compute.watch((vm) => changed(machineOf(vm, compute))),
    documents: documentsOf(fake),
    addForeign: async (cluster: string) => addForeign(compute, cluster),
    refuseLate(count: number) {
      compute.settings.late = count;
    },
  };
}

const { subnet_id: _subnet, public_ip: _public, ...withoutNetwork } = GPU;

export const VM_SLICE: SliceSuite = {
  provider: azure,
  backend: { kind: 'azure_vm', config: GPU },
  variables: VARIABLES,
  openCloud: openSliceCloud,
  creation: 'management.vmPut',
  removals: ['management.vmDelete', 'management.partDelete'],
  mostCalls: { creation: 1_000, removal: 1_000 },
  // 200 machines at once, then 10 a second.
  grownWithinMs: 100_000,
  refusedAfterMs: 30_000,
  mostDocuments: 1_000,
  laterPage: LATER_PAGE,
  denied: { kind: 'error', code: 'AuthorizationFailed', message: 'The client may not.', status: 403 },
  named: /management\.azure\.com|login\.microsoftonline\.com/,
  load: async () =>
    void (await Promise.all([import('../../vm/backend.ts'), import('../../app-configuration/source.ts')])),
  forbidden: [
    ['a variable', { image: `\${AZURE_CLIENT_SECRET}` }, 'image'],
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
    ['an identity', { identity_ids: ['/subscriptions/s/resourceGroups/g/providers/p/t/n'] }, 'identity_ids'],
  ],
};

const SEVERAL_CALLS =
  'counts calls: such a machine takes several, the first of which asks for a network that is not there yet';

/** The same without a subnet: each machine has a network of its own. */
export const OWN_NETWORK_SLICE: SliceSuite = {
  ...VM_SLICE,
  backend: { kind: 'azure_vm', config: withoutNetwork },
  excuses: { thousand: SEVERAL_CALLS, 'equal pools': SEVERAL_CALLS, 'two clusters': SEVERAL_CALLS },
};

/** The same in a scale set; its machines are formed elsewhere, so little of it may be written. */
export const VMSS_SLICE: SliceSuite = {
  ...VM_SLICE,
  backend: { kind: 'azure_vmss', config: { subscription_id: SUBSCRIPTION, resource_group: GROUP, vmss_name: SET } },
  openCloud: (options) => openSliceCloud(options, ({ world }) => void addSet(world.compute)),
  load: async () =>
    void (await Promise.all([import('../../vmss/backend.ts'), import('../../app-configuration/source.ts')])),
  forbidden: [['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint']],
};
