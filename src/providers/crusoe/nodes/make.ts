// Pools that are made for a NodeProvisioner: labels of their nodes say whose they are.
import { Fault } from '#core/fault.ts';
import type { NewNodeGroup } from '#core/node-group.ts';
import { type AsyncAnswer, type NodePool, POOLS } from '../api.ts';
import type { Crusoe } from '../client.ts';
import type { PoolTemplate } from '../config.ts';
import { listVms } from './state.ts';

/** The label by which a node tells which NodeProvisioner sizes its group. */
const PROVISIONER_LABEL = 'nodeprovisioner.compute.baseten.co/provisioner-name';
const MAKER_LABEL = 'muster.io/node-pool-of';

/** For whom our cluster made it; undefined: it did not. */
export const madeForOf = ({ node_labels: labels }: NodePool, cluster: string): string | undefined =>
  labels?.[MAKER_LABEL] === cluster ? labels[PROVISIONER_LABEL] : undefined;

interface Making {
  readonly template: PoolTemplate;
  /** Ours. */
  readonly cluster: string;
  readonly clusterId: string | undefined;
}

function bodyFor({ name, provisioner }: NewNodeGroup, { template, cluster }: Making, clusterId: string): object {
  const { type, labels = {}, taints, reservationId } = template;
  return {
    name,
    cluster_id: clusterId,
    product_name: type,
    count: 0,
    node_labels: { ...labels, [PROVISIONER_LABEL]: provisioner, [MAKER_LABEL]: cluster },
    ...(taints && { node_taints: taints }),
    ...(reservationId !== undefined && { reservation_specification: { id: reservationId } }),
    ...(template.subnetId !== undefined && { subnet_id: template.subnetId }),
    ...(template.transportPartitionId !== undefined && { transport_partition_id: template.transportPartitionId }),
    ...(template.nodePoolVersion !== undefined && { node_pool_version: template.nodePoolVersion }),
    ...(template.sshPublicKey !== undefined && { ssh_public_key: template.sshPublicKey }),
    ...(template.ephemeralStorageForContainerd !== undefined && {
      ephemeral_storage_for_containerd: template.ephemeralStorageForContainerd,
    }),
  };
}

export async function makePool(
  crusoe: Crusoe,
  wanted: NewNodeGroup,
  making: Making,
  signal: AbortSignal,
): Promise<void> {
  const clusterId = making.template.clusterId ?? making.clusterId;
  if (!clusterId)
    throw new Fault('invalid', `The pool template ${wanted.template} names no cluster.`, {
      remedy: 'Set cluster_id in the template, or for the account.',
    });
  const body = bodyFor(wanted, making, clusterId);
  const { operation } = await crusoe.ask<AsyncAnswer>({ method: 'POST', path: POOLS, body }, signal);
  await crusoe.done(operation, POOLS, `The creation of the node pool ${wanted.name}`, signal);
}

/** Deleting a pool deletes its nodes, so it must be empty at this moment. */
export async function dropPool(crusoe: Crusoe, { id, name, count }: NodePool, signal: AbortSignal): Promise<void> {
  const left = Math.max(count, (await listVms(crusoe, id, signal)).length);
  if (left > 0) throw new Fault('conflict', `The node pool ${name} has ${left} nodes.`);
  const { operation } = await crusoe.ask<AsyncAnswer>({ method: 'DELETE', path: `${POOLS}/${id}` }, signal);
  await crusoe.done(operation, POOLS, `The deletion of the node pool ${name}`, signal);
}
