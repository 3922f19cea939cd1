// How tests get at the machines of the fake Azure.
import type { FaultKind } from '#core/fault.ts';
import type { Backend } from '#core/provider.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { BackendWorld } from '../../../conformance/backend-world.ts';
import { type Failures, openSceneOf, type Scene, troubleIn } from '../../../conformance/scene.ts';
import { openVms } from '../vm/backend.ts';
import { VmConfig } from '../vm/config.ts';
import { machineNameOf } from '../vm/marks.ts';
import { openScaleSet } from '../vmss/backend.ts';
import { VmssConfig } from '../vmss/config.ts';
import type { Compute } from './compute/compute.ts';
import { isPartThere, stateAt } from './compute/machine.ts';
import { isNetworkThere } from './compute/networks.ts';
import { type FakeScaleSet, flexibleSet, type SetChanges } from './compute/scale-sets.ts';
import { type FakeAzure, type FakeAzureOptions, openFakeAzure } from './fake-azure.ts';
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

/** What leaves out the network of the machines. */
export const OWN_NETWORK = { subnetId: undefined, publicIp: false };

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

export const SET = 'velda-agent-gpu';

/** A set of spot machines with GPUs. */
export function addSet({ sets }: Compute, changes: Partial<SetChanges> = {}): FakeScaleSet {
  const profile = { priority: 'Spot', evictionPolicy: 'Deallocate', ...changes.profile };
  const own = { name: SET, sku: { name: GPU.vm_size, capacity: 0 }, ...changes, profile };
  const set = flexibleSet(`/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}`, own);
  sets.set(set.id.toLowerCase(), set);
  return set;
}

const SET_CONFIG = { subscriptionId: SUBSCRIPTION, resourceGroup: GROUP, vmssName: SET };

export const openInSet = (scene: AzureScene, config: object = {}, context = contextIn(scene)): Promise<Backend> =>
  scene.during(openScaleSet(VmssConfig.parse({ ...SET_CONFIG, ...config }), context));

/** The names of all that is left of machines: they themselves, interfaces, addresses, disks, networks. */
export function remainsIn({ vms, parts, networks, clock }: Compute): string[] {
  const nowMs = clock.now();
  const left = parts.filter((part) => isPartThere(part, nowMs)).map(({ name }) => name);
  const inNetwork = networks.all.filter((one) => isNetworkThere(one, nowMs)).map(({ name }) => name);
  return [...vms.filter((vm) => stateAt(vm, nowMs) !== 'gone').map(({ name }) => name), ...left, ...inNetwork];
}

const isLaterPage = ({ params, action }: AzureCall): boolean =>
  action === 'management.vmList' && params.$skiptoken !== undefined;
export const LATER_PAGE = {
  when: isLaterPage,
  what: { kind: 'error', code: 'InternalServerError', status: 500 },
} as const;

const refused = (code: string, status: number, message = `${code}.`): CallFailure => ({
  kind: 'error',
  ...{ code, status, message },
});

const FAILURES: Failures = {
  exhausted: refused('AllocationFailed', 409),
  quota: refused('OperationNotAllowed', 409, 'It results in exceeding approved standardNCFamily Cores quota.'),
  invalid: refused('InvalidParameter', 400),
  throttled: { kind: 'throttle' },
  denied: refused('AuthorizationFailed', 403),
  missing: refused('ResourceGroupNotFound', 404),
  unavailable: { kind: 'garbage' },
};
export const VM_FAULTS = Object.keys(FAILURES) as FaultKind[];

/** The world that the laws of a backend are tried in. */
export function openVmWorld(scene: AzureScene, open: BackendWorld['open']): BackendWorld {
  const compute = computeOf(scene);
  return {
    ...troubleIn(scene, { creation: 'management.vmPut', laterPage: LATER_PAGE, failures: FAILURES }),
    open,
    async existing() {
      const nowMs = scene.clock.now();
      const living = compute.vms.filter((vm) => ['Creating', 'Succeeded'].includes(stateAt(vm, nowMs)));
      const networks = compute.networks.all.filter((one) => isNetworkThere(one, nowMs) && one.goneAtMs === undefined);
      return [
        ...new Set([...living.map(({ name }) => name), ...networks.map((one) => machineNameOf(one) ?? one.name)]),
      ];
    },
    async reached({ host, port }) {
      const found = compute.parts.find(({ ip }) => ip === host);
      return found && { name: found.vm.name, port };
    },
    hideFromListings() {
      compute.settings.lagMs = Number.POSITIVE_INFINITY;
    },
    failLate() {
      compute.settings.late = 1;
    },
  };
}
