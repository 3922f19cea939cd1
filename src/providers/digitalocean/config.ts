import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { freeMap, secret, unused } from '#core/schema.ts';

const TAG = /^[A-Za-z0-9_:-]{1,255}$/;
const TAG_RULE = 'DigitalOcean takes letters, digits, ":", "_" and "-", at most 255 characters';
const OURS = /^muster-/i;

/** A tag as DigitalOcean takes it; ours begin with `muster-`. */
const tag = z
  .string()
  .regex(TAG, `is no tag: ${TAG_RULE}`)
  .refine((text) => !OURS.test(text), 'must not begin with muster-, which marks the droplets of Muster');

const labels = freeMap().superRefine((map, context) => {
  for (const [key, value] of Object.entries(map)) {
    const { error } = tag.safeParse(`${key}:${value}`);
    for (const { message } of error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: [key], message: `as the tag "${key}:${value}" ${message}` });
    }
  }
});

const NO_TAILSCALE = 'Muster does not set up Tailscale; put it into the image, or run it from `agent_config`';

/** The server sends its token there, so documents of others may not set it. */
export const apiEndpoint = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("Address of the API, without `/v2`; only in the operator's own file.")
  .meta({
    operatorOnly: true,
    shapes: false,
    defaultText:
      '`DIGITALOCEAN_API_URL`, else `https://api-amd.digitalocean.com` for sizes that end in `-devcloud`, else `https://api.digitalocean.com`',
  });

export const apiToken = secret()
  .optional()
  .describe('API token.')
  .meta({ secret: true, defaultText: '`DIGITALOCEAN_API_TOKEN`' });

/** What one pool of `digitalocean_auto` may set for itself. */
export const ownFields = {
  size: z.string().min(1).describe('Size slug, like `gpu-mi300x1-192gb-devcloud`.'),
  image: z
    .union([z.string().min(1), z.int().min(1)])
    .transform(String)
    .meta({ sourceText: true })
    .describe('Image: a slug like `ubuntu-24-04-x64`, or the id of an image or snapshot.'),
  backups: z.boolean().optional().describe('Whether DigitalOcean makes backups of the droplets.'),
  ipv6: z.boolean().optional().describe('Whether the droplets get an IPv6 address.'),
  monitoring: z.boolean().optional().describe("Whether to install DigitalOcean's metrics agent."),
  vpcUuid: z.uuid().optional().describe('VPC of the droplets.').meta({ defaultText: 'the default VPC of the region' }),
};

/** What all pools of one `digitalocean_auto` share. */
export const sharedFields = {
  region: z.string().min(1).describe('Region slug, like `atl1`.'),
  apiToken,
  sshKeyIds: z
    .array(z.union([z.int().min(1), z.string().min(1)]))
    .optional()
    .describe('SSH keys of the account, by id or fingerprint. Muster itself needs none.'),
  labels: labels.optional().describe('More tags for the droplets, as `key:value`.'),
  agentVersionOverride: unused('machines get the agent from the server, in its version'),
  apiEndpoint,
  tailscaleConfig: unused(NO_TAILSCALE),
};

export const dropletFields = {
  ...sharedFields,
  ...ownFields,
  name: unused('droplets are named by Muster'),
  tags: z.array(tag).optional().describe('More tags for the droplets.'),
  ...agentFileFields,
};

export const DropletConfig = z.strictObject(dropletFields);
export type DropletConfig = z.output<typeof DropletConfig>;
