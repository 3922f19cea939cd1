import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { count, freeMap, protoEnum, script, secret, unused } from '#core/schema.ts';

const OURS = /^muster-/i;
const CONTROL = /\p{Cc}/u;

/** Nebius publishes no rule for labels: what it refuses beyond this it says itself, with the field. */
const labels = freeMap().superRefine((map, context) => {
  const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  for (const [key, value] of Object.entries(map)) {
    if (key === '') refuse(key, 'a label needs a key');
    if (OURS.test(key)) refuse(key, 'must not begin with muster-, which marks the instances of Muster');
    if (CONTROL.test(`${key}${value}`)) refuse(key, 'a label must not contain control characters');
  }
});

/** The server sends its token there, so documents of others may not set it. */
const endpoint = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("Address of the API for all its services; only in the operator's own file.")
  .meta({
    operatorOnly: true,
    shapes: false,
    defaultText: '`NEBIUS_ENDPOINT`, else each service below `api.nebius.cloud`',
  });

const FAMILY = 'ubuntu24.04-cuda13.0';
const LEAST_DISK_GB = 40;
export const DISK_TYPES = ['unspecified', 'ssd', 'ssd_nrd', 'ssd_io'] as const;

/** What one pool of `nebius_auto` may set for itself. */
export const ownFields = {
  platform: z.string().min(1).describe('Platform, like `gpu-h200-sxm`.'),
  resourcePreset: z.string().min(1).describe('Preset of the platform, like `1gpu-16vcpu-200gb`.'),
  preemptible: z
    .boolean()
    .default(false)
    .describe('Whether Nebius may stop the instances at any time, for a lower price.'),
};

const Filesystem = z.strictObject({
  filesystemId: z.string().min(1).describe('Id of the shared filesystem.'),
  mountPath: z
    .string()
    .regex(/^\/[\w./-]*$/, 'must be an absolute path of letters, digits and . _ - /')
    .describe('Where it is mounted.'),
});

/** What all pools of one `nebius_auto` share. */
export const sharedFields = {
  parentId: z.string().min(1).describe('Project of the instances.'),
  subnetId: z.string().min(1).describe('Subnet of their network interface.'),
  iamToken: secret().optional().describe('IAM access token.').meta({ secret: true, defaultText: '`NEBIUS_IAM_TOKEN`' }),
  serviceAccountKey: secret()
    .optional()
    .describe('Credentials of a service account, as the JSON that Nebius gives for it.')
    .meta({ secret: true, defaultText: 'the file that `NEBIUS_SERVICE_ACCOUNT_KEY` names' }),
  usePublicIp: z.boolean().default(false).describe('Whether the instances get a public address.'),
  bootDiskSizeGb: count(LEAST_DISK_GB).default(LEAST_DISK_GB).describe('Size of the boot disk in GiB.'),
  bootDiskType: protoEnum('NEBIUS_BOOT_DISK_TYPE_', DISK_TYPES)
    .optional()
    .describe('Type of the boot disk: `ssd`, `ssd_nrd` (not replicated) or `ssd_io`.')
    .meta({ defaultText: '`ssd`' }),
  imageFamily: z
    .string()
    .min(1)
    .default(FAMILY)
    .describe(
      'Image family: the newest image of it. Other than the default, it is looked for in the project, then among the public images of Nebius.',
    ),
  filesystems: z.array(Filesystem).default([]).describe('Shared filesystems to attach and mount.'),
  clusterId: z.string().min(1).optional().describe('GPU cluster of the instances.'),
  serviceAccountId: z
    .string()
    .min(1)
    .optional()
    .describe("Service account of the instances themselves; only in the operator's own file.")
    .meta({ operatorOnly: 'it decides which rights the machines have' }),
  labels: labels.optional().describe('More labels for the instances.'),
  adminSshKey: z
    .string()
    .min(1)
    .optional()
    .describe('Public SSH key of a user `velda` who may do all. Muster itself needs none.'),
  maxDiskPoolSize: count()
    .default(0)
    .describe('Number of idle instances to stop and keep with their disks instead of deleting them.')
    .meta({ shapes: false }),
  endpoint,
  agentVersionOverride: unused('machines get the agent from the server, in its version'),
  tailscaleConfig: unused('Muster does not set up Tailscale; do that in `additional_runcmds`, or in the image'),
};

export const instanceFields = {
  ...sharedFields,
  ...ownFields,
  additionalRuncmds: z.array(script()).default([]).describe('Shell commands that each machine runs first, as root.'),
  instanceNamePrefix: unused('instances are named by Muster'),
  ...agentFileFields,
};

export const isDefaultFamily = (family: string): boolean => family === FAMILY;

export const InstanceConfig = z.strictObject(instanceFields);
export type InstanceConfig = z.output<typeof InstanceConfig>;
