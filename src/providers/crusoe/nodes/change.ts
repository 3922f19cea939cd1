// Sizing a pool: by absolute counts alone, and machines by their ids.
import { Fault } from '#core/fault.ts';
import type { NodeGrowth } from '#core/node-group.ts';
import type { Outcome } from '#core/provider.ts';
import { type AsyncAnswer, type NodePool, POOLS, VMS } from '../api.ts';
import type { Crusoe } from '../client.ts';
import { isLiving, listVms, readPool, refusalOf, requestId } from './state.ts';

/** Crusoe's own, which it refuses from others and adds by itself. */
const isReserved = (key: string): boolean => key.startsWith('crusoe.ai/');

/**
 * A field that is left out counts as empty and resets the pool, so all that a pool shows is sent back; its version and
 * SSH key are left as they are where they are not named.
 */
function patchOf(pool: NodePool, count: number): object {
  const labels = Object.entries(pool.node_labels ?? {}).filter(([key]) => !isReserved(key));
  const taints = pool.node_taints?.filter(({ key }) => !isReserved(key));
  return {
    action: 'UPDATE',
    count,
    node_labels: Object.fromEntries(labels),
    ...(taints && { node_taints: taints }),
    reservation_id: pool.reservation_id ?? '',
    ephemeral_storage_for_containerd: pool.ephemeral_storage_for_containerd ?? false,
  };
}

async function setCount(crusoe: Crusoe, pool: NodePool, count: number, signal: AbortSignal): Promise<AsyncAnswer> {
  return crusoe.ask<AsyncAnswer>({ method: 'PATCH', path: `${POOLS}/${pool.id}`, body: patchOf(pool, count) }, signal);
}

/** An operation also fails for want of nodes that are still to come: what counts is whether the count was taken in. */
async function lowerCount(crusoe: Crusoe, pool: NodePool, count: number, signal: AbortSignal): Promise<void> {
  const { operation } = await setCount(crusoe, pool, count, signal);
  const what = `Lowering the count of ${pool.name} to ${count}`;
  await crusoe.done(operation, POOLS, what, signal).catch(async (thrown) => {
    const now = await readPool(crusoe, pool.id, signal);
    if (now.count > count) throw thrown;
  });
}

async function ourPool(crusoe: Crusoe, id: string, signal: AbortSignal): Promise<NodePool> {
  if (signal.aborted) throw new Fault('unavailable', 'The change was cancelled.');
  const pool = await readPool(crusoe, id, signal);
  const refusal = refusalOf(pool);
  if (refusal) throw new Fault('conflict', refusal.message, { remedy: refusal.remedy });
  return pool;
}

/** The count is absolute, so a repeat changes nothing; a count that is higher already answers it. */
export async function growPool(crusoe: Crusoe, id: string, growth: NodeGrowth, signal: AbortSignal): Promise<void> {
  const { to, runForMs } = growth;
  if (runForMs !== undefined)
    throw new Fault('unsupported', 'Crusoe has no queue for machines that end by themselves.');
  const pool = await ourPool(crusoe, id, signal);
  if (pool.count < to) await setCount(crusoe, pool, to, signal);
}

/** What did not come is taken back: the count is lowered to what exists, and never below. */
export async function cancelMissing(
  crusoe: Crusoe,
  id: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const pool = await ourPool(crusoe, id, signal);
  if (ids.includes(requestId(pool))) {
    const vms = await listVms(crusoe, id, signal);
    const ending = new Set(vms.filter((vm) => !isLiving(vm)).map((vm) => vm.id));
    // The pool knows its machines before the listing shows them.
    const known = (pool.instance_ids ?? []).filter((one) => !ending.has(one)).length;
    const existing = Math.max(vms.length - ending.size, known);
    if (existing < pool.count) await lowerCount(crusoe, pool, existing, signal);
  }
  return ids.map((name) => ({ name }));
}

async function deleteVm(crusoe: Crusoe, vm: string, signal: AbortSignal): Promise<void> {
  await crusoe.ask<AsyncAnswer>({ method: 'DELETE', path: `${VMS}/${vm}` }, signal).catch((thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind !== 'missing') throw fault;
  });
}

/** Absent is a success; one that is not of this pool is refused. */
async function checkUnlisted(crusoe: Crusoe, { name }: NodePool, vm: string, signal: AbortSignal): Promise<Outcome> {
  try {
    await crusoe.read({ path: `${VMS}/${vm}` }, signal);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    return fault.kind === 'missing' ? { name: vm } : { name: vm, fault };
  }
  return { name: vm, fault: new Fault('invalid', `${vm} is no VM of the node pool ${name}.`) };
}

/**
 * The count is lowered first, since a pool replaces what it misses; then the machines go. A repeat finds the count as it
 * was left, and lowers nothing again: what is to stay is counted, not what is to go.
 */
export async function removeVms(
  crusoe: Crusoe,
  id: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Outcome[]> {
  const pool = await ourPool(crusoe, id, signal);
  const vms = await listVms(crusoe, id, signal);
  const living = vms.filter(isLiving);
  const own = new Set([...vms.map((vm) => vm.id), ...(pool.instance_ids ?? [])]);
  const doomed = new Set(ids.filter((one) => own.has(one) && !vms.some((vm) => vm.id === one && !isLiving(vm))));
  const staying = living.filter((vm) => !doomed.has(vm.id)).length;
  const missing = Math.max(0, pool.count - living.length);
  if (doomed.size > 0 && pool.count > staying + missing) await lowerCount(crusoe, pool, staying + missing, signal);
  const outcomes = ids.map(async (vm): Promise<Outcome> => {
    if (!own.has(vm)) return checkUnlisted(crusoe, pool, vm, signal);
    if (!doomed.has(vm)) return { name: vm };
    return deleteVm(crusoe, vm, signal).then(
      () => ({ name: vm }),
      (thrown) => ({ name: vm, fault: Fault.from(thrown) }),
    );
  });
  return Promise.all(outcomes);
}
