import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { environmentMap, secret } from '#core/schema.ts';
import { endpoint, location, placeFields, SUBNET, tags } from '../vm/config.ts';

// learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules, Microsoft.ContainerInstance.
const CONTAINER_NAME = /^(?!.*--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export const ContainerInstanceConfig = z
  .strictObject({
    ...placeFields,
    location,
    image: z
      .string()
      .min(1)
      .describe('Image in a registry that Azure reaches, whose entry point is the agent: `HOST/NAME:1.2.0`.'),
    registryUsername: z
      .string()
      .min(1)
      .optional()
      .describe('User at the registry of the image, where it is private.')
      .meta({ shapes: false }),
    registryPassword: secret().min(1).optional().describe('Password or token of that user.'),
    containerName: z
      .string()
      .regex(CONTAINER_NAME, 'must have only small letters, digits and single hyphens, at most 63 characters')
      .default('agent')
      .describe('Name of the container in its group.'),
    cpus: z.number().positive().default(1).describe('Processors of each container.'),
    memoryGb: z.number().positive().default(1.5).describe('Memory of each container in GB.'),
    subnetId: z
      .string()
      .regex(SUBNET, 'must be the id of a subnet, or NETWORK/SUBNET in the same resource group')
      .optional()
      .describe(
        'Subnet that is delegated to container instances: its id, or `NETWORK/SUBNET` in the same resource group.',
      )
      .meta({ defaultText: 'none: a computer gets a public address' }),
    env: environmentMap().optional().describe('Environment variables of the agent and its sessions, as secure values.'),
    tags: tags.optional().describe('More tags for the container groups.'),
    ...agentFileFields,
    endpoint,
  })
  .superRefine(({ registryUsername, registryPassword }, context) => {
    if ((registryUsername === undefined) === (registryPassword === undefined)) return;
    const [path, other] =
      registryUsername === undefined
        ? ['registryPassword', 'registry_username']
        : ['registryUsername', 'registry_password'];
    context.addIssue({ code: 'custom', path: [path ?? ''], message: `has no effect without ${other}` });
  });
export type ContainerInstanceConfig = z.output<typeof ContainerInstanceConfig>;
