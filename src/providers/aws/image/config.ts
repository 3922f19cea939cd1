import { z } from 'zod';
import { endpoint, region, text } from '../config.ts';

// Canonical's account, and how it names its images: documentation.ubuntu.com/aws/aws-how-to/instances/find-ubuntu-images.
const CANONICAL = '099720109477';
const BASE = `${CANONICAL}/ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-*`;
const OWNED = /^(\d{12}|amazon|self)\/.+$/;

export const AmiConfig = z.strictObject({
  region: region.meta({ defaultText: '`AWS_REGION`, the profile or the machine’s own' }),
  base: z
    .string()
    .refine((written) => /^ami-[0-9a-f]{8,}$/.test(written) || OWNED.test(written), 'must be OWNER/NAME, or ami-…')
    .default(BASE)
    .describe('The image to start from: `OWNER/NAME`, of which the newest counts, or the id of one.'),
  architecture: z
    .enum(['x86_64', 'arm64'])
    .default('x86_64')
    .describe('The architecture of the image; `base` and `instance_type` must fit it.'),
  instanceType: z.string().min(1).default('t3.small').describe('The type of the machine that the image is made on.'),
  subnetId: text().optional().describe('Its subnet.').meta({ defaultText: 'one of the default VPC' }),
  sshUsername: z.string().min(1).default('ubuntu').describe('The user of `base` that may become root.'),
  sshFrom: z
    .array(z.string().regex(/^[\d.]+\/\d+$/, 'must be a range of addresses, like 203.0.113.7/32'))
    .min(1)
    .default(['0.0.0.0/0'])
    .describe('The addresses that may reach the machine by SSH while the image is made.'),
  endpoint,
});
export type AmiConfig = z.output<typeof AmiConfig>;

/** What the chain of credentials of Amazon's libraries reads, which Packer uses too. */
export const VARIABLES: readonly string[] = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_PROFILE',
  'AWS_CONFIG_FILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_SDK_LOAD_CONFIG',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CA_BUNDLE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_EC2_METADATA_DISABLED',
];
