import { z } from 'zod';
import { needed, type Platform, placeName, present, sharedFields } from './platform.ts';

const options = z.strictObject({
  ...sharedFields(600),
  project: z.string().min(1).optional().describe('Project; absent: GOOGLE_CLOUD_PROJECT.'),
  zone: placeName().default('us-central1-a').describe('Zone.'),
  machineType: z.string().min(1).default('n1-standard-1').describe('Machine type.'),
  sourceImage: z
    .string()
    .min(1)
    .optional()
    .describe('Image; absent: the standard image, on which the agent is installed.'),
});

export const gcp: Platform<z.output<typeof options>> = {
  summary: 'an instance of Compute Engine',
  needsAdmin: false,
  options,
  backend: ({ project, zone, machineType, sourceImage }, context) => ({
    gce_instance: present({
      project: needed('project', project, { platform: 'gcp', variable: 'GOOGLE_CLOUD_PROJECT', context }),
      zone,
      machine_type: machineType,
      image: sourceImage,
    }),
  }),
};
