import { z } from 'zod';
import { freeMap, secret } from '#core/schema.ts';

const Taint = z.strictObject({
  key: z.string().describe('Key of the taint.'),
  value: z.string().optional().describe('Value of the taint.'),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).describe('What it does.'),
});

const PoolTemplate = z.strictObject({
  clusterId: z.string().optional().describe('Id of the cluster.').meta({ defaultText: '`cluster_id` of the account' }),
  type: z.string().describe('VM type of its nodes, like `h100-80gb-sxm-ib.8x`.'),
  labels: freeMap().optional().describe('More labels of its nodes.'),
  taints: z.array(Taint).optional().describe('Taints of its nodes.'),
  subnetId: z
    .string()
    .optional()
    .describe('Id of the subnet.')
    .meta({ defaultText: 'the default one of the location' }),
  reservationId: z.string().optional().describe('Id of the reservation that its nodes use.'),
  transportPartitionId: z.string().optional().describe('Id of the InfiniBand or RoCE partition.'),
  nodePoolVersion: z.string().optional().describe('Version of the node image.').meta({ defaultText: "Crusoe's own" }),
  sshPublicKey: z.string().optional().describe('SSH key of its nodes.'),
  ephemeralStorageForContainerd: z.boolean().optional().describe('Whether images go to the first local disk.'),
});
export type PoolTemplate = z.output<typeof PoolTemplate>;

export const CrusoeConfig = z.strictObject({
  projectId: z.string().optional().describe('Id of the project.').meta({ defaultText: '`CRUSOE_PROJECT_ID`' }),
  clusterId: z
    .string()
    .optional()
    .describe('Id of the cluster whose pools count.')
    .meta({ defaultText: '`CRUSOE_CLUSTER_ID`, else all clusters of the project' }),
  accessKey: z.string().optional().describe('Id of the access key.').meta({ defaultText: '`CRUSOE_ACCESS_KEY`' }),
  secretKey: secret().optional().describe('Its secret.').meta({ secret: true, defaultText: '`CRUSOE_SECRET_KEY`' }),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address of the API with its version; only in the operator's own file.")
    .meta({
      operatorOnly: true,
      shapes: false,
      defaultText: '`CRUSOE_API_ENDPOINT`, else `https://api.cloud.crusoe.ai/v1`',
    }),
  poolTemplates: z
    .record(z.string(), PoolTemplate)
    .optional()
    .describe('What node pools may be made from, by the names that `create` uses.')
    .meta({ defaultText: 'none: pools are not made' }),
});
export type CrusoeConfig = z.output<typeof CrusoeConfig>;
