import type { Bootable } from '#fakes/boot/machine.ts';
import { scriptsIn } from '#fakes/boot/user-data.ts';
import { nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';

export type VmState = 'Creating' | 'Succeeded' | 'Failed' | 'Deleting' | 'gone';
export type Tags = Readonly<Record<string, string>>;

/** A machine as Azure keeps it. */
export interface FakeVm {
  readonly id: string;
  readonly vmId: string;
  readonly name: string;
  readonly group: string;
  readonly location: string;
  readonly zones: readonly string[] | undefined;
  readonly tags: Tags;
  /** As it was sent, secrets apart. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly size: string;
  readonly set: string | undefined;
  readonly isSpot: boolean;
  /** As base64. */
  readonly customData: string;
  readonly plan: unknown;
  readonly madeAtMs: number;
  /** Why it never runs. */
  readonly failure: { readonly code: string; readonly message: string } | undefined;
  /** When Azure takes it away, once that is announced. */
  evictedAtMs: number | undefined;
  /** It is shown as failed though it runs: an update of it failed. */
  isUpdateFailed: boolean;
  /** It was shut down from within: Azure still keeps its place, and bills it. */
  isStopped: boolean;
  timeline: readonly Step<VmState>[];
}

/** An interface, an address or a disk. */
export interface FakePart {
  readonly type: 'networkInterfaces' | 'publicIPAddresses' | 'disks';
  readonly name: string;
  readonly group: string;
  readonly tags: Tags;
  readonly vm: FakeVm;
  /** It goes along with its machine. */
  goesAlong: boolean;
  /** Of an interface: the ids of its subnets and its security group, in small letters. */
  readonly uses?: readonly string[];
  /** Of an interface or an address. */
  readonly ip?: string | undefined;
  goneAtMs: number | undefined;
}

export const stateAt = ({ timeline }: FakeVm, nowMs: number): VmState => stepAt(timeline, nowMs)?.state ?? 'Creating';

export function isPartThere({ goneAtMs, goesAlong, vm, type }: FakePart, nowMs: number): boolean {
  if (goneAtMs !== undefined && nowMs >= goneAtMs) return false;
  // What was never allocated has no disk.
  if (type === 'disks' && vm.failure) return false;
  return !(goesAlong && stateAt(vm, nowMs) === 'gone');
}

export function partId({ type, name, group, vm }: Pick<FakePart, 'type' | 'name' | 'group' | 'vm'>): string {
  const provider = type === 'disks' ? 'Microsoft.Compute' : 'Microsoft.Network';
  return `${vm.id.split('/resourceGroups/')[0]}/resourceGroups/${group}/providers/${provider}/${type}/${name}`;
}

const NOTICE_MS = 30_000;

function statusesOf(vm: FakeVm, nowMs: number): object[] {
  const state = stateAt(vm, nowMs);
  const { failure } = vm;
  if (failure && state === 'Failed')
    return [{ code: `ProvisioningState/failed/${failure.code}`, message: failure.message }];
  if (state === 'Creating') return [{ code: 'ProvisioningState/creating' }];
  const provisioning = vm.isUpdateFailed ? 'failed/VMExtensionProvisioningError' : state.toLowerCase();
  const power = vm.isStopped ? 'stopped' : 'running';
  return [{ code: `ProvisioningState/${provisioning}` }, { code: `PowerState/${power}`, displayStatus: `VM ${power}` }];
}

export const instanceViewOf = (vm: FakeVm, nowMs: number): object => ({ statuses: statusesOf(vm, nowMs) });

/** As Resource Manager shows it. */
export function shown(vm: FakeVm, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, vmId, name, location, zones, tags, properties, madeAtMs } = vm;
  const state = stateAt(vm, nowMs);
  return {
    id,
    name,
    type: 'Microsoft.Compute/virtualMachines',
    location,
    tags,
    ...(zones && { zones }),
    properties: {
      ...properties,
      vmId,
      provisioningState: vm.isUpdateFailed && state === 'Succeeded' ? 'Failed' : state,
      timeCreated: new Date(madeAtMs).toISOString(),
    },
  };
}

/** What scheduled events say of it: nothing until it is about to be taken. */
function scheduledEvents({ name, evictedAtMs }: FakeVm): object {
  if (evictedAtMs === undefined) return { DocumentIncarnation: 1, Events: [] };
  const event = {
    EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    EventStatus: 'Scheduled',
    EventType: 'Preempt',
    ResourceType: 'VirtualMachine',
    Resources: [name],
    NotBefore: new Date(evictedAtMs).toUTCString(),
    EventSource: 'Platform',
  };
  return { DocumentIncarnation: 2, Events: [event] };
}

function metadataOf(vm: FakeVm, request: Request): Response {
  const { pathname } = new URL(request.url);
  if (request.headers.get('metadata') !== 'true') return new Response('Bad Request', { status: 400 });
  if (pathname === '/metadata/scheduledevents') return Response.json(scheduledEvents(vm));
  if (pathname === '/metadata/instance/compute/name') return new Response(vm.name);
  return new Response('Not Found', { status: 404 });
}

/** The machine as those see it who run machines. */
export function bootable(vm: FakeVm, poweredOff: () => void): Bootable {
  return {
    id: vm.name,
    state(nowMs) {
      const state = stateAt(vm, nowMs);
      return state === 'Succeeded' && !vm.isStopped ? 'running' : state === 'gone' ? 'gone' : 'off';
    },
    nextChangeMs: (nowMs) => nextStepMs(vm.timeline, nowMs),
    scripts: () => scriptsIn(vm.customData),
    poweredOff,
    openMetadata: () => (request) => metadataOf(vm, request),
    environment: (address) => ({ AZURE_METADATA_URL: address }),
  };
}

/** How long before an eviction it is announced. */
export const EVICTION_NOTICE_MS = NOTICE_MS;
