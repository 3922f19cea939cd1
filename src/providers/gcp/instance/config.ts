import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { count, freeMap } from '#core/schema.ts';
import { endpoint, labels, project, ZONE } from '../compute/config.ts';

const METADATA_KEY = /^[A-Za-z0-9_-]{1,128}$/;

const metadata = freeMap().superRefine((map, context) => {
  for (const key of Object.keys(map)) {
    if (!METADATA_KEY.test(key))
      context.addIssue({ code: 'custom', path: [key], message: 'must have only letters, digits, "_" and "-"' });
    // Guests run their start-up script from one key alone.
    if (key === 'startup-script')
      context.addIssue({ code: 'custom', path: [key], message: 'is set by Muster; use startup_script' });
  }
});

const MODELS = ['standard', 'spot'] as const;

export const InstanceConfig = z.strictObject({
  project,
  zone: ZONE.describe('Zone of the instances, like `us-central1-a`.'),
  machineType: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'must be the name of a machine type, like e2-standard-4')
    .describe('Machine type, like `e2-standard-4`.'),
  image: z
    .string()
    .regex(/^[a-z0-9][-a-z0-9.:_/]*$/, 'must be an image, like debian-cloud/debian-12')
    .prefault('debian-cloud/debian-12')
    .describe(
      'Image: `<project>/<family>`, the name of an image of the project, or a path that begins with `projects/`.',
    ),
  diskSizeGb: count(1).optional().describe('Size of the boot disk.').meta({ defaultText: 'that of the image' }),
  diskType: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .optional()
    .describe('Type of the boot disk, like `pd-ssd`.')
    .meta({ defaultText: "Google's own" }),
  network: z.string().min(1).optional().describe('VPC network.').meta({ defaultText: '`default`' }),
  subnetwork: z.string().min(1).optional().describe('Subnetwork: its name in the region of the zone, or a path.'),
  externalIp: z.boolean().prefault(true).describe('Whether the instances get an external address.'),
  serviceAccount: z
    .string()
    .min(1)
    .optional()
    .describe('Mail address of the service account of the instances.')
    .meta({ defaultText: 'none: instances have no identity' }),
  tags: z
    .array(z.string().regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, 'is no network tag'))
    .optional()
    .describe('Network tags.'),
  labels: labels.optional().describe('More labels for the instances.'),
  metadata: metadata.optional().describe('More metadata for the instances.'),
  startupScript: z
    .string()
    .optional()
    .describe('A script that each instance runs at every boot, as root, before the agent starts.')
    .meta({ hidden: true, literal: true }),
  acceleratorType: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .optional()
    .describe('Type of GPU to attach, like `nvidia-tesla-t4`; not for machine types that have GPUs.'),
  acceleratorCount: count(1).prefault(1).describe('How many GPUs to attach.'),
  provisioningModel: z
    .enum(MODELS)
    .prefault('standard')
    .describe('`spot`: cheaper instances, which Google may take back at 30 seconds’ notice.'),
  maxStoppedInstances: count(0)
    .prefault(0)
    .describe('Number of idle instances of a pool to stop and keep, in place of deleting them; not for `spot`.')
    .meta({ shapes: false }),
  endpoint,
  ...agentFileFields,
});
export type InstanceConfig = z.output<typeof InstanceConfig>;
