import { z } from 'zod';
import { needed, type Platform, placeName, present, sharedFields } from './platform.ts';
import { registryImage } from './registry-image.ts';

const options = z.strictObject({
  ...sharedFields(300),
  containerName: z.string().min(1).default('commandlab-daemon').describe('Name of the container within its service.'),
  version: z.string().min(1).optional().describe('Version of the image, where its name has none.'),
  image: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Image in a registry that Cloud Run can pull from, pushed by `muster image build docker --push`; needed.',
    ),
  region: placeName().default('us-central1').describe('Region.'),
  projectId: z.string().min(1).optional().describe('Project; absent: GOOGLE_CLOUD_PROJECT.'),
  serviceAccount: z
    .string()
    .min(1)
    .optional()
    .describe("Mail address of the service account of the container; absent: the project's default one."),
  allowUnauthenticated: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
    .default(false)
    .describe('Whether anyone may ask for `/health` at its URL; else only principals with roles/run.invoker.'),
});

const PLATFORM = 'gcp_cloud_run';

export const gcpCloudRun: Platform<z.output<typeof options>> = {
  summary: 'a container of Cloud Run, which loses its files whenever Google replaces it',
  // A user who runs commands in it can act as its service account, and there is none without one.
  needsAdmin: true,
  options,
  backend: ({ containerName, region, projectId, serviceAccount, allowUnauthenticated, ...given }, context) => ({
    gcp_cloud_run: present({
      project: needed('project_id', projectId, { platform: PLATFORM, variable: 'GOOGLE_CLOUD_PROJECT', context }),
      region,
      image: registryImage(PLATFORM, given, context),
      container_name: containerName,
      service_account: serviceAccount,
      ...(allowUnauthenticated && { allow_unauthenticated: true }),
    }),
  }),
};
