import { z } from 'zod';
import { imageKeys, machineImage } from './machine-image.ts';
import { needed, type Platform, placeName, sharedFields } from './platform.ts';

// The usual gallery of the image builder azure-vm.
const GALLERY = 'muster';

const options = z.strictObject({
  ...sharedFields(600),
  resourceGroup: z.string().min(1).default('commandlab-rg').describe('Resource group; it must be there.'),
  location: placeName().default('eastus').describe('Location.'),
  vmSize: z.string().min(1).default('Standard_DS1_v2').describe('Size of the machine.'),
  subscriptionId: z.string().min(1).optional().describe('Subscription; absent: AZURE_SUBSCRIPTION_ID.'),
  imageId: machineImage('azure-vm'),
});

export const azure: Platform<z.output<typeof options>> = {
  summary: 'a virtual machine of Azure, with a network of its own',
  needsAdmin: false,
  options,
  backend({ resourceGroup, location, vmSize, subscriptionId, imageId }, context) {
    const place = { platform: 'azure', variable: 'AZURE_SUBSCRIPTION_ID', context };
    const subscription = needed('subscription_id', subscriptionId, place);
    const gallery = `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Compute/galleries/${GALLERY}`;
    return {
      azure_vm: {
        subscription_id: subscription,
        resource_group: resourceGroup,
        location,
        vm_size: vmSize,
        ...imageKeys(imageId, { key: 'image', newest: (name) => ({ image: `${gallery}/images/${name}` }) }),
      },
    };
  },
};
