// How tests get at the machines of the fake Azure.
import type { Backend } from '#core/provider.ts';
import { noLimits } from '#fakes/limits.ts';
import type { Place, SliceCloudOptions, SliceDocuments, SliceMachine } from '#sim/slice/cloud.ts';
import { openSceneOf, type Scene } from '../../../conformance/scene.ts';
import type { SliceSuite } from '../../../conformance/slice-world.ts';
import azure from '../index.ts';
import { openVms } from '../vm/backend.ts';
import { VmConfig } from '../vm/config.ts';
import { machineNameOf, markOf } from '../vm/marks.ts';
import { openStore } from './app-configuration/store.ts';
import type { WantedVm } from './compute/check-creation.ts';
import type { Compute } from './compute/compute.ts';
import { bootable, type FakePart, type FakeVm, isPartThere, stateAt } from './compute/machine.ts';
import { type FakeAzure, type FakeAzureOptions, openFakeAzure, publishedLimits } from './fake-azure.ts';
import type { AzureCall } from './read-call.ts';

export const SUBSCRIPTION = '00000000-0000-0000-0000-000000000001';
export const GROUP = 'velda';
export const SECRET = 'planted-secret-77';
export const VARIABLES = { AZURE_TENANT_ID: 'tenant1', AZURE_CLIENT_ID: 'app1', AZURE_CLIENT_SECRET: SECRET };
/** A pool of one GPU a machine. */
export const GPU = {
  subscription_id: SUBSCRIPTION,
  resource_group: GROUP,
  location: 'westeurope',
  vm_size: 'Standard_NC4as_T4_v3',
  subnet_id: 'velda-network/agents',
  public_ip: true,
};
export const GPU_CONFIG = {
  subscriptionId: SUBSCRIPTION,
  resourceGroup: GROUP,
  location: 'westeurope',
  vmSize: GPU.vm_size,
  subnetId: GPU.subnet_id,
  publicIp: true,
};

export type AzureScene = Scene<FakeAzure>;

export function openScene(options: FakeAzureOptions = {}): AzureScene {
  const scene = openSceneOf((clock) => openFakeAzure(clock, options));
  scene.fake.world.proofs.set('app1', SECRET);
  return scene;
}

/** A process of its own, which logs in by a client secret. */
export const contextIn = (scene: AzureScene, cluster?: string) => scene.contextFor(cluster, VARIABLES);

export const openBackend = (scene: AzureScene, config: object = {}, context = contextIn(scene)): Promise<Backend> =>
  scene.during(openVms(VmConfig.parse({ ...GPU_CONFIG, ...config }), context));

export const computeOf = ({ fake }: AzureScene): Compute => fake.world.compute;

/** The names of all that is left of machines: they themselves, interfaces, addresses, disks. */
export function remainsIn({ vms, parts, clock }: Compute): string[] {
  const nowMs = clock.now();
  const left = parts.filter((part) => isPartThere(part, nowMs)).map(({ name }) => name);
  return [...vms.filter((vm) => stateAt(vm, nowMs) !== 'gone').map(({ name }) => name), ...left];
}

const isLaterPage = ({ params, action }: AzureCall): boolean =>
  action === 'management.vmList' && params.$skiptoken !== undefined;
export const LATER_PAGE = {
  when: isLaterPage,
  what: { kind: 'error', code: 'InternalServerError', status: 500 },
} as const;

// Nothing of a machine that failed runs or is paid for; but it must not stay.
const FAILED_FOR_MS = 60_000;

function machineOf(vm: FakeVm): SliceMachine {
  return {
    ...bootable(vm),
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
  properties: {},
  parts: [],
};

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
    machines: () => [...compute.vms.map(machineOf), ...compute.parts.filter((part) => !part.goesAlong).map(strandedOf)],
    watch: (changed: (machine: SliceMachine) => void) => void compute.watch((vm) => changed(machineOf(vm))),
    documents: documentsOf(fake),
    addForeign: async (cluster: string) => addForeign(compute, cluster),
    refuseLate(count: number) {
      compute.settings.late = count;
    },
  };
}

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
  sparse: 3,
  mostDocuments: 1_000,
  laterPage: LATER_PAGE,
  denied: { kind: 'error', code: 'AuthorizationFailed', message: 'The client may not.', status: 403 },
  named: /management\.azure\.com|login\.microsoftonline\.com/,
  load: async () => void (await Promise.all([import('../vm/backend.ts'), import('../app-configuration/source.ts')])),
  forbidden: [
    ['a variable', { image: `\${AZURE_CLIENT_SECRET}` }, 'image'],
    ['an address of its own', { endpoint: 'https://evil.example' }, 'endpoint'],
    ['an identity', { identity_ids: ['/subscriptions/s/resourceGroups/g/providers/p/t/n'] }, 'identity_ids'],
  ],
};
