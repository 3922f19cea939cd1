// A cloud of node groups that exists only in memory: what it holds, and what happens in it as time passes.
import type { Clock } from '#core/clock.ts';
import type { NodeTemplate } from '#core/node-group.ts';
import type { Trouble } from '#core/provider.ts';

/** `names`: the caller names machines, and there is a queue. `counts`: the cloud fills the group up to its size. */
export type MemoryCloudStyle = 'names' | 'counts';

export interface MemoryMachine {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly endsAt?: number | undefined;
  state: 'creating' | 'running' | 'deleting';
  trouble?: Trouble | undefined;
}

export interface MemoryRequest {
  readonly name: string;
  readonly runForMs: number;
  readonly createdAt: number;
}

export interface MemoryGroup {
  readonly id: string;
  readonly name: string;
  readonly zone: string;
  readonly madeFor?: string | undefined;
  readonly template: NodeTemplate;
  readonly machines: Map<string, MemoryMachine>;
  /** By the name of the machine that each waits for. */
  readonly requests: Map<string, MemoryRequest>;
  /** Of the style `counts`: up to where the cloud fills it. */
  size: number;
  isAutoscaled: boolean;
}

export interface MemoryCloudOptions {
  readonly bootMs?: number | undefined;
  readonly deleteMs?: number | undefined;
  readonly template?: NodeTemplate | undefined;
  /** A machine runs, or is gone: for who joins nodes to a cluster. */
  changed?(group: MemoryGroup, machine: MemoryMachine, now: 'running' | 'gone'): void;
}

export interface MemoryCloud {
  readonly clock: Clock;
  readonly groups: Map<string, MemoryGroup>;
  addGroup(name: string, zone: string, madeFor?: string, nodes?: NodeTemplate): MemoryGroup;
  startMachine(group: MemoryGroup, name: string, runForMs?: number): void;
  addRunning(group: MemoryGroup, name?: string, runForMs?: number): MemoryMachine;
  deleteMachine(group: MemoryGroup, machine: MemoryMachine): void;
  queue(group: MemoryGroup, name: string, runForMs: number): void;
  grant(): void;
  /** Of the style `counts`: makes what is missing up to the size. */
  fill(group: MemoryGroup): void;
  stock: number;
  isQueueHeld: boolean;
}

const BOOT_MS = 400;
const DELETE_MS = 200;
const NO_STOCK: Trouble = { kind: 'exhausted', reason: 'STOCKOUT', message: 'There is no capacity.', final: false };

export const MEMORY_TEMPLATE: NodeTemplate = {
  allocatable: { cpu: 64_000, memory: 512 * 2 ** 30, pods: 110, 'nvidia.com/gpu': 8 },
  labels: { 'node.kubernetes.io/instance-type': 'memory-8gpu' },
  taints: [],
};

export const livingMachines = (group: MemoryGroup): MemoryMachine[] =>
  [...group.machines.values()].filter(({ state }) => state !== 'deleting');

export function openMemoryCloud(clock: Clock, options: MemoryCloudOptions = {}): MemoryCloud {
  const { bootMs = BOOT_MS, deleteMs = DELETE_MS, template = MEMORY_TEMPLATE, changed } = options;
  let serial = 0;

  function put(group: MemoryGroup, name: string, state: 'creating' | 'running', runForMs?: number): MemoryMachine {
    const createdAt = clock.now();
    const endsAt = runForMs === undefined ? undefined : createdAt + runForMs;
    const machine: MemoryMachine = { id: `i-${++serial}`, name, createdAt, endsAt, state };
    group.machines.set(machine.id, machine);
    return machine;
  }

  function gone(group: MemoryGroup, machine: MemoryMachine): void {
    if (!group.machines.delete(machine.id)) return;
    changed?.(group, machine, 'gone');
    if (group.size > livingMachines(group).length) cloud.fill(group);
  }

  function endInTime(group: MemoryGroup, machine: MemoryMachine): void {
    const { endsAt } = machine;
    if (endsAt !== undefined) clock.alarm(endsAt - clock.now(), () => gone(group, machine));
  }

  function boot(group: MemoryGroup, machine: MemoryMachine): void {
    clock.alarm(bootMs, () => {
      if (machine.state !== 'creating') return;
      if (cloud.stock <= 0) {
        machine.trouble = NO_STOCK;
        boot(group, machine);
        return;
      }
      cloud.stock -= 1;
      machine.trouble = undefined;
      machine.state = 'running';
      changed?.(group, machine, 'running');
      endInTime(group, machine);
    });
  }

  const cloud: MemoryCloud = {
    clock,
    groups: new Map(),
    stock: Number.POSITIVE_INFINITY,
    isQueueHeld: false,
    addGroup(name, zone, madeFor, nodes = template) {
      const id = `memory:${zone}:${name}`;
      const group: MemoryGroup = {
        id,
        name,
        zone,
        madeFor,
        template: nodes,
        machines: new Map(),
        requests: new Map(),
        size: 0,
        isAutoscaled: false,
      };
      cloud.groups.set(id, group);
      return group;
    },
    startMachine(group, name, runForMs) {
      boot(group, put(group, name, 'creating', runForMs));
    },
    addRunning(group, name = `${group.name}-old${++serial}`, runForMs) {
      const machine = put(group, name, 'running', runForMs);
      group.size += 1;
      changed?.(group, machine, 'running');
      endInTime(group, machine);
      return machine;
    },
    deleteMachine(group, machine) {
      machine.state = 'deleting';
      clock.alarm(deleteMs, () => gone(group, machine));
    },
    queue(group, name, runForMs) {
      group.requests.set(name, { name, runForMs, createdAt: clock.now() });
      if (!cloud.isQueueHeld) cloud.grant();
    },
    grant() {
      cloud.isQueueHeld = false;
      for (const group of cloud.groups.values()) {
        for (const { name, runForMs } of group.requests.values()) cloud.startMachine(group, name, runForMs);
        group.requests.clear();
      }
    },
    fill(group) {
      while (livingMachines(group).length < Math.min(group.size, livingMachines(group).length + cloud.stock)) {
        cloud.stock -= 1;
        const machine = put(group, `${group.name}-${++serial}`, 'creating');
        clock.alarm(bootMs, () => {
          if (machine.state !== 'creating') return;
          machine.state = 'running';
          changed?.(group, machine, 'running');
        });
      }
    },
  };
  return cloud;
}
