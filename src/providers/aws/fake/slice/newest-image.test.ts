import { testNewestImage } from '../../../../conformance/newest-image.ts';
import { AWS_SLICE, fakesOf, REGION } from './testing.ts';

testNewestImage('a pool of EC2 instances from images by name', {
  ...AWS_SLICE,
  image: { ami_id: undefined, ami_name: 'muster-agent-*' },
  publish(cloud, version) {
    const world = fakesOf.get(cloud)?.world;
    const id = `ami-0000000000000000${version}`;
    const name = `muster-agent-1.${9 * version}.0-0a1b2c3d`;
    const own = { owner: world?.account ?? '', createdAtMs: world?.clock.now() ?? 0, architecture: 'x86_64' };
    world?.region(REGION).images.set(id, { id, name, ...own });
    return id;
  },
  computer: { platform: 'aws', options: { region: REGION } },
  builder: 'aws-ami',
  imageOf: (cloud, id) =>
    fakesOf
      .get(cloud)
      ?.machines()
      .find((one) => one.id === id)?.imageId,
});
