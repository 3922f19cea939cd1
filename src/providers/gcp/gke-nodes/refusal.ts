// Whether GKE itself sizes a node pool: its autoscaler does not show at the instance group.
import { Fault } from '#core/fault.ts';
import type { GroupRefusal } from '#core/node-group.ts';
import type { PoolPlace, Pools } from './container-api.ts';

function unreadable(pool: string, { clusterName }: PoolPlace, fault: Fault): GroupRefusal {
  const message = `Whether GKE itself sizes the node pool ${pool} of ${clusterName} is not known: ${fault.message}`;
  return { reason: 'GroupUnreadable', message, remedy: fault.remedy };
}

export async function poolRefusal(
  pools: Pools,
  at: PoolPlace,
  pool: string,
  signal: AbortSignal,
): Promise<GroupRefusal | undefined> {
  const { project, location, clusterName } = at;
  try {
    const { autoscaling } = await pools.get(pool, signal);
    if (!autoscaling?.enabled) return undefined;
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind === 'denied') return unreadable(pool, at, fault);
    throw fault;
  }
  return {
    reason: 'GroupHasAutoscaler',
    message: `GKE sizes the node pool ${pool} of ${clusterName} itself.`,
    remedy: `Two autoscalers undo each other: gcloud container clusters update ${clusterName} --no-enable-autoscaling --node-pool=${pool} --location=${location} --project=${project}.`,
  };
}
