import { z } from 'zod';

export const AksConfig = z.object({
  subscriptionId: z.guid('must be the id of a subscription').describe('The id of the subscription.'),
  resourceGroup: z
    .string()
    .regex(/^[-\w.()]{1,90}$/, 'must be the name of a resource group')
    .describe('The resource group of the cluster.'),
  clusterName: z
    .string()
    .regex(/^[0-9A-Za-z][-\w]{0,62}$/, 'must be the name of a cluster')
    .describe('The name of the cluster.'),
});
export type AksConfig = z.output<typeof AksConfig>;
