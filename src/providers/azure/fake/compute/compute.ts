// The machines of a subscription, with their interfaces, addresses and disks. It knows nothing of the provider.
import { hash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import { follow } from '#fakes/timeline.ts';
import type { WantedVm } from './check-creation.ts';
import type { MadeThings } from './groups.ts';
import { EVICTION_NOTICE_MS, type FakePart, type FakeVm, isPartThere, partId, stateAt } from './machine.ts';
import { type Networks, openNetworks } from './networks.ts';
import { openReferences, type References } from './references.ts';
import type { FakeAutoscale, FakeScaleSet } from './scale-sets.ts';
import { SIZES } from './seed-data.ts';

export interface ComputeOptions {
  readonly clock: Clock;
  readonly subscriptionId: string;
  readonly lagMs?: number | undefined;
  readonly bootMs?: number | undefined;
}

export interface FakeOperation {
  readonly id: string;
  endsAtMs: number;
  error: { readonly code: string; readonly message: string } | undefined;
}

export interface Compute {
  readonly clock: Clock;
  readonly subscriptionId: string;
  /** All machines that ever were. */
  readonly vms: readonly FakeVm[];
  readonly parts: readonly FakePart[];
  readonly operations: Map<string, FakeOperation>;
  /** What machines may refer to. */
  readonly references: References;
  readonly networks: Networks;
  /** Resource groups and managed images that somebody has made. */
  readonly made: MadeThings;
  /** By id, in small letters. */
  readonly sets: Map<string, FakeScaleSet>;
  readonly autoscales: FakeAutoscale[];
  /** By size: how many are left; absent: enough. */
  readonly stock: Map<string, number>;
  readonly settings: {
    /** How many cores the subscription may have in a location. */
    cores: number;
    /** So many machines are promised next and never come. */
    late: number;
    /** So many machines leave their parts behind when they end. */
    strands: number;
    /** So many networks and security groups are promised next and fail. */
    lateNetworks: number;
    lagMs: number;
    bootMs: number;
  };
  find(group: string, name: string): FakeVm | undefined;
  /** Of a resource group, as its listing shows them. */
  listed(group: string | undefined): readonly FakeVm[];
  /** Of a resource group, as they are. */
  partsIn(group: string, type: FakePart['type']): readonly FakePart[];
  /** As a listing shows them. */
  listedParts(group: string, type: FakePart['type']): readonly FakePart[];
  /** The ids of interfaces that refer to one of these ids. */
  interfacesOf(ids: readonly string[]): readonly string[];
  make(group: string, name: string, wanted: WantedVm): { readonly vm: FakeVm; readonly operation: FakeOperation };
  end(vm: FakeVm): FakeOperation;
  /** An operation that takes so long, and succeeds unless it has an error. */
  begin(afterMs: number, error?: FakeOperation['error']): FakeOperation;
  endPart(part: FakePart): FakeOperation;
  /** The machine shuts itself down. */
  stop(vm: FakeVm): void;
  /** Azure takes a spot machine, after its notice. */
  evict(vm: FakeVm): void;
  watch(changed: (vm: FakeVm) => void): () => void;
}

const [BOOT_MS, END_MS, LATE_MS, LAG_MS, PART_MS] = [2_000, 2_000, 3_000, 2_000, 1_000];
const MANY_CORES = 1_000_000;
export const PREEMPTED = {
  code: 'OperationPreempted',
  message: 'Operation execution has been preempted by a more recent operation.',
};

const uuidOf = (text: string): string => {
  const hex = hash('sha256', text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const FIRST_ADDRESS = { networkInterfaces: '10.60', publicIPAddresses: '20.50' } as const;

/** Another for each; disks have none. */
const addressFor = (type: FakePart['type'], at: number): string | undefined =>
  type === 'disks' ? undefined : `${FIRST_ADDRESS[type]}.${at >> 8}.${at & 255}`;

export function openCompute(options: ComputeOptions): Compute {
  const { clock, subscriptionId, lagMs = LAG_MS, bootMs = BOOT_MS } = options;
  const [vms, parts]: [FakeVm[], FakePart[]] = [[], []];
  const byName = new Map<string, FakeVm>();
  const diskByName = new Map<string, FakePart>();
  const operations = new Map<string, FakeOperation>();
  const creations = new WeakMap<FakeVm, FakeOperation>();
  const watchers = new Set<(vm: FakeVm) => void>();
  const stock = new Map<string, number>();
  const settings = { cores: MANY_CORES, late: 0, strands: 0, lateNetworks: 0, lagMs, bootMs };
  const references = openReferences(subscriptionId);
  const keyOf = (group: string, name: string): string => `${group}/${name}`.toLowerCase();
  const isThere = (vm: FakeVm): boolean => stateAt(vm, clock.now()) !== 'gone';
  const changed = (vm: FakeVm): void => {
    for (const heard of watchers) heard(vm);
  };

  function operate(afterMs: number, error?: FakeOperation['error']): FakeOperation {
    const operation = { id: uuidOf(`operation ${operations.size}`), endsAtMs: clock.now() + afterMs, error };
    operations.set(operation.id, operation);
    return operation;
  }

  const coresOf = (size: string): number => SIZES.find(({ name }) => name === size)?.vcpus ?? 1;

  function checkRoom({ size, location }: WantedVm): void {
    const used = vms
      .filter((vm) => isThere(vm) && vm.location === location)
      .reduce((sum, vm) => sum + coresOf(vm.size), 0);
    if (settings.cores !== MANY_CORES && used + coresOf(size) > settings.cores) {
      const words = `Operation could not be completed as it results in exceeding approved Total Regional Cores quota. Current Limit: ${settings.cores}.`;
      throw refusal('OperationNotAllowed', words, 409);
    }
    const left = stock.get(size);
    if (left === undefined) return;
    if (left < 1)
      throw refusal('SkuNotAvailable', `The requested VM size ${size} is currently not available in ${location}.`, 409);
    stock.set(size, left - 1);
  }

  function checkDisks(group: string, { parts: wanted }: WantedVm): void {
    for (const { type, name } of wanted) {
      const same = type === 'disks' ? diskByName.get(keyOf(group, name)) : undefined;
      if (same && isPartThere(same, clock.now()))
        throw refusal('ConflictingUserInput', `The disk ${name} exists already in the resource group ${group}.`, 409);
    }
  }

  function end(vm: FakeVm): FakeOperation {
    const atMs = clock.now();
    const creation = creations.get(vm);
    if (creation && creation.endsAtMs > atMs) Object.assign(creation, { endsAtMs: atMs, error: PREEMPTED });
    const past = vm.timeline.filter((step) => step.atMs <= atMs);
    vm.timeline = follow(past, [
      { atMs, state: 'Deleting' },
      { atMs: atMs + END_MS, state: 'gone' },
    ]);
    if (settings.strands > 0) {
      settings.strands -= 1;
      for (const part of parts) if (part.vm === vm) part.goesAlong = false;
    }
    changed(vm);
    return operate(END_MS);
  }

  const partsIn = (group: string, type: FakePart['type']): readonly FakePart[] =>
    parts.filter(
      (part) =>
        part.type === type && part.group.toLowerCase() === group.toLowerCase() && isPartThere(part, clock.now()),
    );

  function interfacesOf(ids: readonly string[]): readonly string[] {
    const users = parts.filter(
      ({ uses = [], ...part }) => uses.some((id) => ids.includes(id)) && isPartThere(part, clock.now()),
    );
    return users.map(partId);
  }

  return {
    clock,
    subscriptionId,
    references,
    networks: openNetworks({ clock, references, settings, operate, interfacesOf }),
    vms,
    parts,
    operations,
    sets: new Map(),
    made: { groups: [], images: [] },
    autoscales: [],
    stock,
    settings,
    find(group, name) {
      const vm = byName.get(keyOf(group, name));
      return vm && isThere(vm) ? vm : undefined;
    },
    listed(group) {
      const nowMs = clock.now();
      const isIn = (vm: FakeVm): boolean => group === undefined || vm.group.toLowerCase() === group.toLowerCase();
      return vms.filter((vm) => isIn(vm) && isThere(vm) && nowMs - vm.madeAtMs >= settings.lagMs);
    },
    partsIn,
    listedParts: (group, type) => partsIn(group, type).filter(({ vm }) => clock.now() - vm.madeAtMs >= settings.lagMs),
    interfacesOf,
    make(group, name, wanted) {
      checkDisks(group, wanted);
      checkRoom(wanted);
      const { parts: asked, ...own } = wanted;
      const madeAtMs = clock.now();
      const isLate = settings.late > 0;
      settings.late = Math.max(0, settings.late - 1);
      const failure = isLate
        ? {
            code: 'AllocationFailed',
            message: 'Allocation failed. We do not have sufficient capacity for the requested VM size in this region.',
          }
        : undefined;
      const next = isLate
        ? { atMs: madeAtMs + LATE_MS, state: 'Failed' as const }
        : { atMs: madeAtMs + settings.bootMs, state: 'Succeeded' as const };
      const vm: FakeVm = {
        ...own,
        id: `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/Microsoft.Compute/virtualMachines/${name}`,
        vmId: uuidOf(`vm ${vms.length}`),
        name,
        group,
        madeAtMs,
        failure,
        evictedAtMs: undefined,
        isUpdateFailed: false,
        isStopped: false,
        timeline: [{ atMs: madeAtMs, state: 'Creating' }, next],
      };
      vms.push(vm);
      byName.set(keyOf(group, name), vm);
      for (const wantedPart of asked) {
        const ip = addressFor(wantedPart.type, parts.length);
        const part = { ...wantedPart, group, vm, ip, goneAtMs: undefined };
        parts.push(part);
        if (part.type === 'disks') diskByName.set(keyOf(group, part.name), part);
      }
      const operation = operate(next.atMs - madeAtMs, failure);
      creations.set(vm, operation);
      changed(vm);
      return { vm, operation };
    },
    end,
    begin: operate,
    endPart(part) {
      part.goneAtMs = clock.now() + PART_MS;
      return operate(PART_MS);
    },
    stop(vm) {
      vm.isStopped = true;
      changed(vm);
    },
    evict(vm) {
      vm.evictedAtMs = clock.now() + EVICTION_NOTICE_MS;
      clock.alarm(EVICTION_NOTICE_MS, () => isThere(vm) && end(vm));
    },
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}
