import type { GroupRefusal, NodeGroupState, NodeInstance, NodeRequest } from '#core/node-group.ts';
import { type NodePool, type Operation, POOLS, type Vm } from '../api.ts';
import type { Crusoe } from '../client.ts';
import { shortfallOf } from './shortfall.ts';
import { nodeTemplateOf } from './template.ts';

const STATES: Readonly<Record<string, NodeInstance['state']>> = {
  RUNNING: 'running',
  DEFINING: 'creating',
  PAUSED: 'creating',
  CREATING: 'creating',
  STARTING: 'creating',
  SHUTDOWN: 'deleting',
  DELETING: 'deleting',
  DELETED: 'deleting',
};

const stateOf = ({ state }: Vm): NodeInstance['state'] => STATES[state.replace(/^STATE_/, '')] ?? 'failed';

export const isLiving = (vm: Vm): boolean => stateOf(vm) !== 'deleting';

export const readPool = (crusoe: Crusoe, id: string, signal: AbortSignal): Promise<NodePool> =>
  crusoe.read<NodePool>({ path: `${POOLS}/${id}` }, signal);

// The most that a page may hold is not published; this many the API takes elsewhere.
const PAGE = 50;

export const listVms = (crusoe: Crusoe, id: string, signal: AbortSignal): Promise<readonly Vm[]> =>
  crusoe.all<Vm>({ path: `${POOLS}/${id}/vms`, query: { limit: PAGE } }, signal);

export function refusalOf({ name, autoscaling_config: autoscaling }: NodePool): GroupRefusal | undefined {
  if (!autoscaling?.enabled) return undefined;
  return {
    reason: 'GroupHasAutoscaler',
    message: `Crusoe sizes the node pool ${name} itself.`,
    remedy: 'Two autoscalers undo each other: turn the autoscaling of the pool off.',
  };
}

/** A VM without a time must not look as if it had failed to join for years. */
function nodeInstanceOf(vm: Vm, nowMs: number): NodeInstance {
  const state = stateOf(vm);
  const message = `Crusoe shows the VM as ${vm.state}.`;
  return {
    id: vm.id,
    name: vm.name,
    providerId: `crusoe://${vm.id}`,
    state,
    ...(state === 'failed' && { trouble: { kind: 'unavailable', reason: vm.state, message, final: false } }),
    createdAt: Date.parse(vm.created_at) || nowMs,
  };
}

/** A pool only counts: what is missing up to its count is one request. */
export const requestId = ({ id }: NodePool): string => `${id}:count`;

async function missingOf(crusoe: Crusoe, pool: NodePool, count: number, signal: AbortSignal): Promise<NodeRequest> {
  const operations = await crusoe.all<Operation>({ path: `${POOLS}/operations` }, signal);
  const trouble = shortfallOf(pool, operations);
  const createdAt = Date.parse(pool.updated_at ?? '') || crusoe.clock.now();
  return { id: requestId(pool), count, state: trouble ? 'failed' : 'waiting', ...(trouble && { trouble }), createdAt };
}

export async function describePool(crusoe: Crusoe, id: string, signal: AbortSignal): Promise<NodeGroupState> {
  // The pool first: nodes that come in between are then no longer missing.
  const pool = await readPool(crusoe, id, signal);
  const [vms, template] = await Promise.all([listVms(crusoe, id, signal), nodeTemplateOf(crusoe, pool, signal)]);
  const living = vms.filter(isLiving).length;
  const missing = pool.count - living;
  const requests = missing > 0 ? [await missingOf(crusoe, pool, missing, signal)] : [];
  const refusal = refusalOf(pool);
  return {
    wanted: living + Math.max(0, missing),
    template,
    instances: vms.map((vm) => nodeInstanceOf(vm, crusoe.clock.now())),
    requests,
    ...(refusal && { refusal }),
  };
}
