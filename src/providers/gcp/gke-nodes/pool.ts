// A node pool that is made for a NodeProvisioner: its labels say so, on the nodes and on the resources of Google Cloud.
import type { NewNodeGroup } from '#core/node-group.ts';
import { PROVISIONER_LABEL } from '../nodes/make.ts';
import type { PoolTemplate } from './config.ts';
import type { NodePool } from './container-api.ts';

// No mark of a machine: features that own machines must not take nodes for theirs.
const MAKER_LABEL = 'muster-node-pool-of';

/** For whom our cluster made it; undefined: it did not. */
export function madeForOf({ config = {} }: NodePool, cluster: string): string | undefined {
  return config.resourceLabels?.[MAKER_LABEL] === cluster ? config.labels?.[PROVISIONER_LABEL] : undefined;
}

const EFFECTS = {
  NoSchedule: 'NO_SCHEDULE',
  PreferNoSchedule: 'PREFER_NO_SCHEDULE',
  NoExecute: 'NO_EXECUTE',
} as const;

/** As `nodePools.create` takes it: of no nodes, and sized by nobody else. */
export function poolFor({ name, provisioner }: NewNodeGroup, template: PoolTemplate, cluster: string): object {
  const { zone, machineType, acceleratorType, acceleratorCount = 1, diskSizeGb, serviceAccount } = template;
  const { labels = {}, taints = [], spot, flexStart } = template;
  return {
    name,
    initialNodeCount: 0,
    locations: [zone],
    autoscaling: { enabled: false },
    config: {
      machineType,
      ...(acceleratorType !== undefined && {
        accelerators: [{ acceleratorType, acceleratorCount: String(acceleratorCount) }],
      }),
      ...(diskSizeGb !== undefined && { diskSizeGb }),
      ...(serviceAccount !== undefined && { serviceAccount }),
      ...(spot && { spot }),
      labels: { ...labels, [PROVISIONER_LABEL]: provisioner },
      resourceLabels: { [MAKER_LABEL]: cluster },
      ...(taints.length > 0 && {
        taints: taints.map(({ key, value = '', effect }) => ({ key, value, effect: EFFECTS[effect] })),
      }),
      ...(flexStart && { flexStart, reservationAffinity: { consumeReservationType: 'NO_RESERVATION' } }),
    },
    // GKE, "Flex-start": nodes of the queue cannot be repaired.
    ...(flexStart && { management: { autoRepair: false } }),
  };
}
