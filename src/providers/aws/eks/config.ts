import { z } from 'zod';
import { endpoint, text } from '../config.ts';

export const EksConfig = z.object({
  region: text()
    .optional()
    .describe('The region, like `us-west-2`.')
    .meta({ defaultText: '`AWS_REGION`, the profile or the machine’s own' }),
  clusterName: z
    .string()
    .regex(/^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/, 'must be the name of a cluster')
    .describe('The name of the cluster.'),
  roleArn: z
    .string()
    .regex(/^arn:[a-z-]+:iam::\d{12}:role\/.+$/, 'must be the ARN of a role')
    .optional()
    .describe('A role to act as, for example one of the account that the cluster is in.'),
  endpoint,
});
export type EksConfig = z.output<typeof EksConfig>;
