import { z } from 'zod';
import { count, freeMap } from '#core/schema.ts';
import { endpoint, ZONE } from '../compute/config.ts';
import { GkeConfig } from '../gke/config.ts';

const Taint = z.strictObject({
  key: z.string().describe('Key of the taint.'),
  value: z.string().optional().describe('Value of the taint.'),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).describe('What it does.'),
});

const PoolTemplate = z.strictObject({
  zone: ZONE.describe('The one zone of the pool, like `us-central1-a`.'),
  machineType: z.string().describe('Machine type of its nodes, like `a3-highgpu-8g`.'),
  acceleratorType: z.string().optional().describe('GPUs of each node, like `nvidia-h100-80gb`.'),
  acceleratorCount: count(1).optional().describe('How many GPUs each node has.'),
  diskSizeGb: count(10).optional().describe("Size of the boot disk, where it is not GKE's own."),
  serviceAccount: z.string().optional().describe('Mail address of the account that its nodes act as.'),
  labels: freeMap().optional().describe('More labels of its nodes.'),
  taints: z.array(Taint).optional().describe('Taints of its nodes; GKE adds that of GPUs.'),
  spot: z.boolean().optional().describe('Whether its nodes are spot instances.'),
  flexStart: z.boolean().optional().describe('Whether its nodes come from the queue and end by themselves.'),
});
export type PoolTemplate = z.output<typeof PoolTemplate>;

export const GkeNodesConfig = z.strictObject({
  ...GkeConfig.pick({ project: true, location: true, clusterName: true }).shape,
  endpoint,
  poolTemplates: z
    .record(z.string(), PoolTemplate)
    .optional()
    .describe('What node pools may be made from, by the names that `create` uses.')
    .meta({ defaultText: 'none: pools are not made' }),
});
export type GkeNodesConfig = z.output<typeof GkeNodesConfig>;
