import { z } from 'zod';
import { needed, type Platform, placeName, present, sharedFields } from './platform.ts';
import { registryImage } from './registry-image.ts';

const NAME = 'azure_container_instances';

const options = z.strictObject({
  ...sharedFields(300),
  containerName: z.string().min(1).default('commandlab-daemon').describe('Name of the container in its group.'),
  image: z
    .string()
    .min(1)
    .optional()
    .describe('Image in a registry that Azure reaches without a login, like `HOST/NAME:1.2.0`; needed.'),
  version: z.string().min(1).optional().describe('Version of the image, where its name has none.'),
  resourceGroup: z.string().min(1).optional().describe('Resource group; needed, and it must be there.'),
  region: placeName().default('eastus').describe('Location.'),
  subscriptionId: z.string().min(1).optional().describe('Subscription; absent: AZURE_SUBSCRIPTION_ID.'),
});

export const azureContainerInstances: Platform<z.output<typeof options>> = {
  summary: 'a container group of Azure Container Instances, with a public address',
  needsAdmin: false,
  options,
  backend({ containerName, resourceGroup, region, subscriptionId, ...given }, context) {
    const need = (option: string, value: string | undefined, variable?: string): string =>
      needed(option, value, { platform: NAME, context, ...(variable && { variable }) });
    return {
      azure_container_instance: present({
        subscription_id: need('subscription_id', subscriptionId, 'AZURE_SUBSCRIPTION_ID'),
        resource_group: need('resource_group', resourceGroup),
        location: region,
        image: registryImage(NAME, given, context),
        container_name: containerName,
      }),
    };
  },
};
