import { testNewestImage } from '../../../../conformance/newest-image.ts';
import { addVersion } from '../compute/galleries.ts';
import type { FakeAzure } from '../fake-azure.ts';
import { GROUP, SUBSCRIPTION } from '../testing.ts';
import { VM_SLICE } from './testing.ts';

const LOCATION = 'westeurope';
const IMAGE = `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.Compute/galleries/muster/images/muster-agent`;

testNewestImage('a pool of virtual machines of Azure from a gallery image', {
  ...VM_SLICE,
  image: { image: IMAGE },
  publish: ({ fake }, version) =>
    addVersion((fake as FakeAzure).world.compute.references.galleries, { image: IMAGE, name: `1.${9 * version}.0` }).id,
  computer: {
    platform: 'azure',
    options: { subscription_id: SUBSCRIPTION, resource_group: GROUP, location: LOCATION },
  },
  builder: 'azure-vm',
  imageOf({ fake }, id) {
    const vm = (fake as FakeAzure).world.compute.vms.find((one) => [one.id, one.name, one.vmId].includes(id));
    const properties = vm?.properties as { storageProfile?: { imageReference?: { id?: string } } } | undefined;
    return properties?.storageProfile?.imageReference?.id;
  },
});
