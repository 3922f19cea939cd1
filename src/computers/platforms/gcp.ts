import { z } from 'zod';
import { imageKeys, machineImage } from './machine-image.ts';
import { needed, type Platform, placeName, sharedFields } from './platform.ts';

const options = z.strictObject({
  ...sharedFields(600),
  project: z.string().min(1).optional().describe('Project; absent: GOOGLE_CLOUD_PROJECT.'),
  zone: placeName().default('us-central1-a').describe('Zone.'),
  machineType: z.string().min(1).default('n1-standard-1').describe('Machine type.'),
  sourceImage: machineImage('gcp-vm'),
});

export const gcp: Platform<z.output<typeof options>> = {
  summary: 'an instance of Compute Engine',
  needsAdmin: false,
  options,
  backend({ project: given, zone, machineType, sourceImage }, context) {
    const project = needed('project', given, { platform: 'gcp', variable: 'GOOGLE_CLOUD_PROJECT', context });
    const image = imageKeys(sourceImage, { key: 'image', newest: (family) => ({ image: `${project}/${family}` }) });
    return { gce_instance: { project, zone, machine_type: machineType, ...image } };
  },
};
