import { testNewestImage } from '../../../conformance/newest-image.ts';
import { PROJECT, ZONE } from '../fake/compute/seed-data.ts';
import { fakesOf, INSTANCE_SLICE } from '../fake/compute/testing/slices.ts';

testNewestImage('a pool of instances from an image family', {
  ...INSTANCE_SLICE,
  image: { image: `${PROJECT}/muster-agent` },
  publish(cloud, version) {
    const name = `muster-agent-1-${9 * version}-0-0a1b2c3d`;
    fakesOf.get(cloud)?.world.compute.families.set(`${PROJECT}/muster-agent`, name);
    return `projects/${PROJECT}/global/images/${name}`;
  },
  computer: { platform: 'gcp', options: { project: PROJECT, zone: ZONE } },
  builder: 'gcp-vm',
  imageOf: (cloud, id) => fakesOf.get(cloud)?.world.compute.instances.find((one) => one.id === id)?.image,
});
