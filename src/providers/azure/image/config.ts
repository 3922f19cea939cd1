import { z } from 'zod';
import { locationName, placeFields } from '../vm/config.ts';

const NAME = /^[A-Za-z0-9][\w.-]{0,79}$/;

export const GalleryImageConfig = z.strictObject({
  subscriptionId: placeFields.subscriptionId,
  resourceGroup: placeFields.resourceGroup.default('commandlab-rg').describe('The resource group of the gallery.'),
  gallery: z
    .string()
    .regex(NAME, 'must be the name of a compute gallery')
    .default('muster')
    .describe('The compute gallery.'),
  image: z
    .string()
    .regex(NAME, 'must be the name of an image definition')
    .default('muster-agent')
    .describe('The image definition in it, of which each build makes a version.'),
  location: z
    .string()
    .min(1)
    .default('eastus')
    .transform(locationName)
    .describe('Where the image is made, like `westeurope`.'),
  replicateTo: z
    .array(z.string().min(1).transform(locationName))
    .min(1)
    .optional()
    .describe('The locations where machines start from it.')
    .meta({ defaultText: '`location`' }),
  base: z
    .string()
    .regex(/^[\w.-]+:[\w.-]+:[\w.-]+$/, 'must be Publisher:Offer:Sku')
    .default('Canonical:ubuntu-24_04-lts:server')
    .describe('What it starts from: `Publisher:Offer:Sku`, of which the newest version counts.'),
  architecture: z
    .enum(['x86_64', 'arm64'])
    .default('x86_64')
    .describe('The architecture of the image; `base`, `vm_size` and the image definition must fit it.'),
  vmSize: z.string().min(1).default('Standard_D2s_v5').describe('The size of the machine that it is made on.'),
  sshUsername: z.string().min(1).default('packer').describe('The user that Packer makes on it.'),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address of the Resource Manager; only in the operator's own file.")
    .meta({ operatorOnly: true, shapes: false, defaultText: '`AZURE_RESOURCE_MANAGER_URL`, else Azure' }),
});
export type GalleryImageConfig = z.output<typeof GalleryImageConfig>;
