// The node pools of this Crusoe: they count, make what is missing, and never take a node away.
import { follow, type Step, stepAt } from '#fakes/timeline.ts';
import type { CloudState } from './cloud.ts';

type VmState = 'DEFINING' | 'RUNNING' | 'SHUTDOWN' | 'GONE';

export interface FakeVm {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly madeAtMs: number;
  timeline: readonly Step<VmState>[];
}

/** What a pool has of its own, as the API names it. */
export interface PoolSettings {
  readonly node_labels: Readonly<Record<string, string>>;
  readonly node_taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly reservation_id: string;
  readonly ephemeral_storage_for_containerd: boolean;
}

export interface FakePool {
  readonly id: string;
  readonly name: string;
  readonly clusterId: string;
  readonly type: string;
  readonly madeAtMs: number;
  updatedAtMs: number;
  count: number;
  state: string;
  settings: PoolSettings;
  /** All that ever were. */
  readonly vms: FakeVm[];
  /** What later versions of the API show beside. */
  later?: Readonly<Record<string, unknown>> | undefined;
}

export interface FakeOperation {
  readonly id: string;
  readonly pool: string;
  readonly startedAtMs: number;
  readonly doneAtMs: number;
  /** What its result is once it is over. */
  readonly result: unknown;
  readonly isFailed: boolean;
}

export const vmState = ({ timeline }: FakeVm, nowMs: number): VmState => stepAt(timeline, nowMs)?.state ?? 'GONE';

export const isLiving = (vm: FakeVm, nowMs: number): boolean => ['DEFINING', 'RUNNING'].includes(vmState(vm, nowMs));

const iso = (ms: number): string => new Date(ms).toISOString();

export function shownVm({ id, name, type, madeAtMs, ...vm }: FakeVm, nowMs: number, projectId: string): object {
  const state = vmState({ id, name, type, madeAtMs, ...vm }, nowMs);
  return {
    ...{ id, name, type, project_id: projectId, state, location: 'us-east1-a', maintenance_policy: 'unspecified' },
    ...{ created_at: iso(madeAtMs), updated_at: iso(madeAtMs) },
    ...{ disks: [], network_interfaces: [], host_channel_adapters: [] },
  };
}

export function shownPool(pool: FakePool, nowMs: number, projectId: string): Readonly<Record<string, unknown>> {
  const { id, name, clusterId, type, count, state, settings, later, madeAtMs, updatedAtMs } = pool;
  const ids = pool.vms.filter((vm) => vmState(vm, nowMs) !== 'GONE').map((vm) => vm.id);
  return {
    ...{ id, name, cluster_id: clusterId, type, count, state, project_id: projectId },
    ...{ image_id: '1.33.4-cmk.1', subnet_id: 'subnet-1', instance_ids: ids, public_ip_type: 'dynamic' },
    instance_details: ids.map((one) => ({ id: one, using_latest_config: true })),
    created_at: iso(madeAtMs),
    updated_at: iso(updatedAtMs),
    ...settings,
    // What Crusoe itself puts on every node.
    node_labels: { ...settings.node_labels, 'crusoe.ai/nodepool.id': id },
    ...later,
  };
}

/** Makes what is missing, as far as there is stock; answers how many came. */
export function fill(state: CloudState, pool: FakePool): number {
  const nowMs = state.clock.now();
  let made = 0;
  while (pool.vms.filter((vm) => isLiving(vm, nowMs)).length < pool.count && state.stock > 0) {
    state.stock -= 1;
    made += 1;
    const id = state.nextId('vm');
    pool.vms.push({
      ...{ id, name: `${pool.name}-${id}`, type: pool.type, madeAtMs: nowMs },
      timeline: [
        { atMs: nowMs, state: 'DEFINING' },
        { atMs: nowMs + state.behaviour.bootMs, state: 'RUNNING' },
      ],
    });
  }
  return made;
}

/** A pool replaces what it misses. */
export function endVm(state: CloudState, pool: FakePool, vm: FakeVm): void {
  const atMs = state.clock.now();
  if (!isLiving(vm, atMs)) return;
  vm.timeline = follow(
    vm.timeline.filter((step) => step.atMs <= atMs),
    [
      { atMs, state: 'SHUTDOWN' },
      { atMs: atMs + state.behaviour.endMs, state: 'GONE' },
    ],
  );
  fill(state, pool);
}

const NO_CAPACITY = 'The requested VM type is out of capacity in this location.';

/** Counts anew; a lower count takes no node away. */
export function setCount(state: CloudState, pool: FakePool, count: number): FakeOperation {
  const nowMs = state.clock.now();
  const before = pool.vms.filter((vm) => isLiving(vm, nowMs)).length;
  pool.count = count;
  pool.updatedAtMs = nowMs;
  const made = fill(state, pool);
  const short = count > before + made;
  const isFailed = short && made === 0;
  const details = { num_vms_created: made, ...(short && { error: NO_CAPACITY }) };
  const shown = shownPool({ ...pool, later: undefined }, nowMs, state.projectId);
  const result = isFailed ? { code: 'resource_exhausted', message: NO_CAPACITY } : { node_pool: shown, details };
  return begin(state, { pool: pool.id, result, isFailed });
}

export function begin(
  state: CloudState,
  { pool, result, isFailed = false }: Pick<FakeOperation, 'pool' | 'result'> & { readonly isFailed?: boolean },
): FakeOperation {
  const startedAtMs = state.clock.now();
  const operation = {
    ...{ id: state.nextId('op'), pool, result, isFailed, startedAtMs },
    doneAtMs: startedAtMs + state.behaviour.operationMs,
  };
  state.operations.push(operation);
  return operation;
}

export function shownOperation(
  { id, pool, startedAtMs, doneAtMs, result, isFailed }: FakeOperation,
  nowMs: number,
): object {
  const isOver = nowMs >= doneAtMs;
  const ended = isFailed ? 'FAILED' : 'SUCCEEDED';
  return {
    operation_id: id,
    state: isOver ? ended : 'IN_PROGRESS',
    metadata: { id: pool },
    started_at: iso(startedAtMs),
    completed_at: isOver ? iso(doneAtMs) : '',
    ...(isOver && { result }),
  };
}
