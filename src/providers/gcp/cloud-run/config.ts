import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { environmentMap } from '#core/schema.ts';
import { endpoint, labels, project, REGION } from '../compute/config.ts';

/** The variable that holds the agent's file. */
export const AGENT_CONFIG_VARIABLE = 'MUSTER_AGENT_CONFIG';

// Cloud Run, "Container runtime contract": it sets these itself.
const TAKEN = /^(PORT|K_SERVICE|K_REVISION|K_CONFIGURATION|CLOUD_RUN_.*|X_GOOGLE_.*)$/;

const env = environmentMap().superRefine((map, context) => {
  const refuse = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
  for (const key of Object.keys(map)) {
    if (TAKEN.test(key)) refuse(key, 'is set by Cloud Run');
    if (key === AGENT_CONFIG_VARIABLE) refuse(key, 'is set by Muster; use agent_config');
  }
});

const CPUS = ['1', '2', '4', '6', '8'] as const;

export const CloudRunConfig = z.strictObject({
  project,
  region: REGION.describe('Region of the services, like `us-central1`.'),
  image: z
    .string()
    .regex(/^[a-z0-9][-a-zA-Z0-9.:_/@]*$/, 'must be an image, like us-docker.pkg.dev/my-project/team/agent:1.2.0')
    .describe('Image in a registry that Cloud Run can pull from; its entry point is the agent of this version.'),
  containerName: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must have only lower-case letters, digits and "-", at most 63')
    .optional()
    .describe('Name of the container within its service.')
    .meta({ defaultText: "Cloud Run's own" }),
  cpu: z
    .union([z.enum(CPUS), z.number().transform(String).pipe(z.enum(CPUS))])
    .default('1')
    .describe('Processors of each container: 1, 2, 4, 6 or 8.'),
  memory: z
    .string()
    .regex(/^[1-9]\d*(Mi|Gi)$/, 'must be a size like 512Mi or 2Gi')
    .default('1Gi')
    .describe('Memory of each container, at least `512Mi`. Its files are kept in it.'),
  env: env.optional().describe('Environment variables of the agent and its sessions.'),
  labels: labels.optional().describe('More labels for the services.'),
  serviceAccount: z
    .string()
    .min(1)
    .optional()
    .describe('Mail address of the service account of the containers. Users who run commands in them can act as it.')
    .meta({ defaultText: "the project's default one, which may have rights" }),
  network: z.string().min(1).optional().describe('VPC network for connections to private addresses.'),
  subnetwork: z.string().min(1).optional().describe('Subnetwork of it, in the region.'),
  allowUnauthenticated: z
    .boolean()
    .default(false)
    .describe(
      'Whether anyone may ask for `/health` at the URL of a service; else only principals with `roles/run.invoker`.',
    ),
  endpoint: endpoint.describe("Endpoint of Cloud Run instead of Google's own; only in the operator's own file.").meta({
    operatorOnly: true,
    shapes: false,
    defaultText: '`CLOUDSDK_API_ENDPOINT_OVERRIDES_RUN`, else Google',
  }),
  ...agentFileFields,
});
export type CloudRunConfig = z.output<typeof CloudRunConfig>;
