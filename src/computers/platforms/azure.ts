import { z } from 'zod';
import { needed, type Platform, placeName, present, sharedFields } from './platform.ts';

const options = z.strictObject({
  ...sharedFields(600),
  resourceGroup: z.string().min(1).default('commandlab-rg').describe('Resource group; it must be there.'),
  location: placeName().default('eastus').describe('Location.'),
  vmSize: z.string().min(1).default('Standard_DS1_v2').describe('Size of the machine.'),
  subscriptionId: z.string().min(1).optional().describe('Subscription; absent: AZURE_SUBSCRIPTION_ID.'),
  imageId: z.string().min(1).optional().describe('Image; absent: the standard image, on which the agent is installed.'),
});

export const azure: Platform<z.output<typeof options>> = {
  summary: 'a virtual machine of Azure, with a network of its own',
  needsAdmin: false,
  options,
  backend: ({ resourceGroup, location, vmSize, subscriptionId, imageId }, context) => ({
    azure_vm: present({
      subscription_id: needed('subscription_id', subscriptionId, {
        platform: 'azure',
        variable: 'AZURE_SUBSCRIPTION_ID',
        context,
      }),
      resource_group: resourceGroup,
      location,
      vm_size: vmSize,
      image: imageId,
    }),
  }),
};
