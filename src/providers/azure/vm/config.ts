import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { freeMap } from '#core/schema.ts';

const RESOURCE = /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/[^/]+(\/[^/]+){2,}$/i;
export const SUBNET = /^(\/subscriptions\/.+\/virtualNetworks\/[^/]+\/subnets\/[^/]+|[\w.-]+\/[\w.-]+)$/i;
const URN = /^[\w.-]+:[\w.-]+:[\w.-]+:[\w.-]+$/;
/** For sizes with an Arm processor, or without Hyper-V generation 2, the same in another form. */
export const STANDARD_IMAGE = 'Canonical:ubuntu-24_04-lts:server:latest';
const GALLERY = /^\/(CommunityGalleries|SharedGalleries)\/.+/i;

// learn.microsoft.com/azure/azure-resource-manager/management/tag-resources, "Limitations".
const TAG_KEY = /^[^<>%&\\?/]{1,512}$/;
const RESERVED = /^(muster-|microsoft|azure|windows)/i;
const MOST_TAGS = 40;
const MOST_VALUE = 256;

export const tags = freeMap()
  .superRefine((map, context) => {
    for (const [key, value] of Object.entries(map)) {
      const refuse = (message: string): void => context.addIssue({ code: 'custom', path: [key], message });
      if (!TAG_KEY.test(key))
        refuse('is no tag: Azure takes no <, >, %, &, \\, ? and / in the name, and 512 characters');
      else if (RESERVED.test(key)) refuse('must not begin with muster-, microsoft, azure or windows');
      if (value.length > MOST_VALUE) refuse(`must have at most ${MOST_VALUE} characters`);
    }
  })
  .refine(
    (map) => Object.keys(map).length <= MOST_TAGS,
    `must have at most ${MOST_TAGS} entries: Azure allows 50 tags`,
  );

/** The server sends its token there, so documents of others may not set it. */
export const endpoint = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("Address of the Resource Manager; only in the operator's own file.")
  .meta({ operatorOnly: true, shapes: false, defaultText: '`AZURE_RESOURCE_MANAGER_URL`, else Azure' });

/** `West Europe` and `westeurope` are the same place. */
export const locationName = (text: string): string => text.toLowerCase().replace(/\s+/g, '');

export const location = z.string().min(1).transform(locationName).describe('The location, like `westeurope`.');

/** What all kinds of machines have. */
export const placeFields = {
  subscriptionId: z
    .guid('must be the id of a subscription')
    .optional()
    .describe('The id of the subscription.')
    .meta({ defaultText: '`AZURE_SUBSCRIPTION_ID`' }),
  resourceGroup: z
    .string()
    .regex(/^[-\w.()]{1,90}$/, 'must be the name of a resource group')
    .describe('The resource group of the machines.'),
};

export const machineFields = {
  sshPublicKey: z
    .string()
    .regex(/^(ssh-rsa|ssh-ed25519) [A-Za-z0-9+/=]+( .*)?$/, 'must be a public key, like ssh-ed25519 AAAA…')
    .optional()
    .describe('SSH key for logging in. Muster itself needs none.')
    .meta({ defaultText: 'a random key that is thrown away' }),
  adminUsername: z
    .string()
    .regex(/^[a-z_][a-z0-9_-]{0,31}$/, 'must be the name of a Linux user')
    .default('azureuser')
    .describe('The user that the SSH key is for.'),
  tags: tags.optional().describe('More tags for the machines, their disks and network interfaces.'),
  ...agentFileFields,
  endpoint,
};

export const VmConfig = z
  .strictObject({
    ...placeFields,
    location,
    vmSize: z.string().min(1).describe('The size, like `Standard_NC24ads_A100_v4`.'),
    image: z
      .string()
      .refine(
        (text) => URN.test(text) || RESOURCE.test(text) || GALLERY.test(text),
        'must be Publisher:Offer:Sku:Version, or the id of an image',
      )
      .default(STANDARD_IMAGE)

      .describe(
        'Image: `Publisher:Offer:Sku:Version`, or the id of an image, of a gallery or of a community gallery. Of a gallery image without a version the newest one: a pool rolls to the next.',
      ),
    subnetId: z
      .string()
      .regex(SUBNET, 'must be the id of a subnet, or NETWORK/SUBNET in the same resource group')
      .optional()
      .describe('Subnet: its id, or `NETWORK/SUBNET` in the same resource group.')
      .meta({ defaultText: 'each machine gets a network of its own, with a public address' }),
    networkSecurityGroupId: z
      .string()
      .regex(RESOURCE, 'must be the id of a network security group')
      .optional()
      .describe('Network security group of the machines.'),
    publicIp: z
      .boolean()
      .default(false)
      .describe('Whether the machines get a public address; without `subnet_id` they always do.'),
    zone: z.enum(['1', '2', '3']).optional().describe('Availability zone.').meta({ sourceText: true }),
    diskSizeGb: z
      .int()
      .min(4)
      .max(4_095)
      .optional()
      .describe('Size of the system disk.')
      .meta({ defaultText: 'that of the image' }),
    diskType: z
      .enum(['Standard_LRS', 'StandardSSD_LRS', 'Premium_LRS'])
      .default('StandardSSD_LRS')
      .describe('Type of the system disk.'),
    market: z
      .enum(['on_demand', 'spot'])
      .default('on_demand')
      .describe('`spot` machines are cheaper, and Azure may evict them.'),
    spotMaxPrice: z
      .number('must be a number: dollars an hour')
      .positive()
      .optional()
      .describe('Highest price for a spot machine, in dollars an hour.')
      .meta({ defaultText: 'the pay-as-you-go price' }),
    identityIds: z
      .array(z.string().regex(RESOURCE, 'must be the id of an identity'))
      .optional()
      .describe("User-assigned identities of the machines; only in the operator's own file.")
      .meta({ operatorOnly: 'it decides which rights the machines have' }),
    ...machineFields,
  })
  .superRefine(({ spotMaxPrice, market }, context) => {
    if (spotMaxPrice !== undefined && market !== 'spot')
      context.addIssue({ code: 'custom', path: ['spotMaxPrice'], message: 'has no effect without market: spot' });
  });
export type VmConfig = z.output<typeof VmConfig>;
