// What each action of the API does here.
import { HOUR_MS } from '#core/clock.ts';
import { cursorOf, inOrder, pageOf } from '#fakes/paging.ts';
import { refusal } from '#fakes/refusal.ts';
import type { CloudState } from './cloud.ts';
import {
  begin,
  endVm,
  type FakePool,
  type PoolSettings,
  setCount,
  shownOperation,
  shownPool,
  shownVm,
  vmState,
} from './pool.ts';
import type { CrusoeCall } from './read-call.ts';

const notFound = (): Error => refusal('404', 'not_found', 404);

const TYPES = [
  { product_name: 'h100-80gb-sxm-ib.8x', cpu_cores: 176, memory_gb: 960, num_gpu: 8, gpu_type: 'H100', disk_gb: 0 },
  {
    product_name: 'mi300x-192gb-roce.8x',
    cpu_cores: 208,
    memory_gb: 2_000,
    num_gpu: 8,
    gpu_type: 'MI300X',
    disk_gb: 0,
  },
  { product_name: 'c1a.8x', cpu_cores: 8, memory_gb: 32, num_gpu: 0, gpu_type: '', disk_gb: 0 },
].map((type) => ({ ...type, description: type.product_name, cpu_type: 'amd', memory_type: 'DRAM', disk_type: 'SSD' }));

const wordOf = ({ path }: CrusoeCall, at: number): string => path.split('/')[at] ?? '';

/** Pools that ended are still shown by themselves for a while. */
function poolOf(call: CrusoeCall, { pools }: CloudState): FakePool {
  const found = pools.find(({ id }) => id === wordOf(call, 6));
  if (!found) throw notFound();
  return found;
}

interface Patch extends Partial<PoolSettings> {
  readonly action?: string;
  readonly count?: number;
}

/** "Fields sent at zero value reset the pool": what is left out is one, taints apart. */
function patch(call: CrusoeCall, state: CloudState): object {
  const pool = poolOf(call, state);
  const wanted = call.body as Patch;
  for (const key of Object.keys(wanted.node_labels ?? {}))
    if (key.startsWith('crusoe.ai/')) throw refusal('400', `bad_request: label ${key} is reserved`, 400);
  pool.settings = {
    node_labels: wanted.node_labels ?? {},
    node_taints: wanted.node_taints ?? pool.settings.node_taints,
    reservation_id: wanted.reservation_id ?? '',
    ephemeral_storage_for_containerd: wanted.ephemeral_storage_for_containerd ?? false,
  };
  return { operation: shownOperation(setCount(state, pool, wanted.count ?? 0), state.clock.now()) };
}

interface Post extends Partial<Omit<PoolSettings, 'reservation_id'>> {
  readonly name: string;
  readonly cluster_id: string;
  readonly product_name: string;
  readonly count: number;
  readonly reservation_specification?: { readonly id?: string };
}

function create(call: CrusoeCall, state: CloudState): object {
  const wanted = call.body as unknown as Post;
  const nowMs = state.clock.now();
  if (!TYPES.some(({ product_name: name }) => name === wanted.product_name))
    throw refusal('400', `bad_request: no such VM type ${wanted.product_name}`, 400);
  const pool: FakePool = {
    ...{ id: state.nextId('pool'), name: wanted.name, clusterId: wanted.cluster_id, type: wanted.product_name },
    ...{ count: 0, state: 'STATE_RUNNING', vms: [], madeAtMs: nowMs, updatedAtMs: nowMs },
    settings: {
      node_labels: wanted.node_labels ?? {},
      node_taints: wanted.node_taints ?? [],
      reservation_id: wanted.reservation_specification?.id ?? '',
      ephemeral_storage_for_containerd: wanted.ephemeral_storage_for_containerd ?? false,
    },
  };
  state.pools.push(pool);
  return { operation: shownOperation(setCount(state, pool, wanted.count), nowMs) };
}

/** With all its nodes. */
function deletePool(call: CrusoeCall, state: CloudState): object {
  const pool = poolOf(call, state);
  pool.state = 'STATE_DELETED';
  pool.count = 0;
  for (const vm of pool.vms) endVm(state, pool, vm);
  return { operation: shownOperation(begin(state, { pool: pool.id, result: {} }), state.clock.now()) };
}

function vms(call: CrusoeCall, state: CloudState): object {
  const { behaviour, clock, projectId } = state;
  const nowMs = clock.now();
  const pool = poolOf(call, state);
  const seen = pool.vms.filter((vm) => vmState(vm, nowMs) !== 'GONE' && nowMs - vm.madeAtMs >= behaviour.lagMs);
  const question = {
    ...{ of: call.path, token: call.query.next_token, nowMs, emptyPages: 0, tokenLifeMs: HOUR_MS },
    size: Math.min(Number(call.query.limit ?? behaviour.pageSize), behaviour.pageSize),
  };
  const cursor = cursorOf(question);
  if (!cursor) throw refusal('400', 'bad_request: next_token', 400);
  const { items, token } = pageOf(
    question,
    cursor,
    inOrder(seen, ({ id }) => id),
  );
  return { items: items.map((vm) => shownVm(vm, nowMs, projectId)), next_token: token ?? '' };
}

function vmAt(call: CrusoeCall, { pools, clock }: CloudState) {
  const id = wordOf(call, 7);
  for (const pool of pools) {
    const vm = pool.vms.find((one) => one.id === id && vmState(one, clock.now()) !== 'GONE');
    if (vm) return { pool, vm };
  }
  throw notFound();
}

function deleteVm(call: CrusoeCall, state: CloudState): object {
  const { pool, vm } = vmAt(call, state);
  endVm(state, pool, vm);
  return { operation: shownOperation(begin(state, { pool: vm.id, result: {} }), state.clock.now()) };
}

export const ACTIONS: Readonly<Record<string, (call: CrusoeCall, state: CloudState) => object>> = {
  'pools.list': ({ query }, { pools, clock, projectId }) => ({
    items: pools
      .filter(({ clusterId }) => query.cluster_id === undefined || query.cluster_id === clusterId)
      .map((pool) => shownPool(pool, clock.now(), projectId)),
  }),
  'pools.get': (call, state) => shownPool(poolOf(call, state), state.clock.now(), state.projectId),
  'pools.create': create,
  'pools.patch': patch,
  'pools.delete': deletePool,
  'pools.vms': vms,
  'pools.operations': (_call, { operations, clock }) => ({
    items: operations.map((one) => shownOperation(one, clock.now())),
  }),
  'pools.operation': (call, { operations, clock }) => {
    const found = operations.find(({ id }) => id === wordOf(call, 7));
    if (!found) throw notFound();
    return shownOperation(found, clock.now());
  },
  'vms.types': () => ({ items: TYPES }),
  'vms.get': (call, state) => shownVm(vmAt(call, state).vm, state.clock.now(), state.projectId),
  'vms.delete': deleteVm,
};
