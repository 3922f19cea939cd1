import { z } from 'zod';

const segment = () => z.string().regex(/^[a-z][-a-z0-9.:]*$/, 'must have only lower-case letters, digits and "-"');

export const GkeConfig = z.object({
  project: segment().describe('The id of the project, like `my-gcp-project`.'),
  location: segment().describe('The region of the cluster, like `us-central1`, or its zone, like `us-central1-a`.'),
  clusterName: segment().describe('The name of the cluster.'),
  endpoint: z
    .enum(['public', 'private', 'dns'])
    .optional()
    .describe('By which address of the control plane: its public or private IP address, or its DNS name.')
    .meta({ defaultText: 'the address that Google names first, else the DNS name' }),
});
export type GkeConfig = z.output<typeof GkeConfig>;
