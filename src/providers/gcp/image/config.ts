import { z } from 'zod';
import { endpoint, project, ZONE } from '../compute/config.ts';

export const GceImageConfig = z.strictObject({
  project: project
    .optional()
    .describe('Id of the project that holds the image, and the machine that it is made on.')
    .meta({ defaultText: '`GOOGLE_CLOUD_PROJECT`' }),
  zone: ZONE.default('us-central1-a').describe('The zone of that machine.'),
  base: z
    .string()
    .regex(/^[a-z][-a-z0-9.:]+\/[a-z][-a-z0-9]*$/, 'must be PROJECT/FAMILY, like debian-cloud/debian-12')
    .default('ubuntu-os-cloud/ubuntu-2404-lts-amd64')
    .describe('The family to start from: `PROJECT/FAMILY`, of which the newest image counts.'),
  architecture: z
    .enum(['x86_64', 'arm64'])
    .default('x86_64')
    .describe('The architecture of the image; `base` and `machine_type` must fit it.'),
  machineType: z.string().min(1).default('e2-medium').describe('The type of the machine that the image is made on.'),
  network: z.string().min(1).optional().describe('Its network.').meta({ defaultText: '`default`' }),
  subnetwork: z.string().min(1).optional().describe('Its subnetwork, where the network has none for the region.'),
  sshUsername: z.string().min(1).default('packer').describe('The user that Packer makes on it.'),
  endpoint,
});
export type GceImageConfig = z.output<typeof GceImageConfig>;
