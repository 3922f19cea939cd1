import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { duration, environmentMap } from '#core/schema.ts';
import { endpoint, tags, text } from '../config.ts';

const MIB_OF_2_GIB = 2_048;
const LONGEST_STOP_MS = 120_000;

const role = () =>
  text().refine((arn) => arn === undefined || /^arn:[^:]+:iam::\d*:role\/.+/.test(arn), 'must be the ARN of a role');

const fields = {
  region: text()
    .optional()
    .describe('The region, like `us-west-2`.')
    .meta({ defaultText: '`AWS_REGION`, the profile or the machine’s own' }),
  clusterName: z.string().min(1).default('default').describe('Name or ARN of the cluster of ECS; it must be there.'),
  image: z
    .string()
    .min(1)
    .describe('Image whose entry point is the agent, in a registry that ECS can pull from: `HOST/NAME:1.2.0`.'),
  subnets: z
    .array(z.string().min(1))
    .min(1)
    .max(16)
    .describe('Subnets of one VPC; more of them, in several zones, find more capacity.'),
  securityGroups: z
    .array(z.string().min(1))
    .max(5)
    .optional()
    .describe('Security groups, by id.')
    .meta({ defaultText: 'the default group of the VPC' }),
  assignPublicIp: z
    .boolean()
    .default(true)
    .describe(
      'Whether a task gets a public address. Without one, its subnet needs a NAT gateway or endpoints to pull the image.',
    ),
  vcpus: z.literal([0.25, 0.5, 1, 2, 4, 8, 16]).default(1).describe('Processors of each task.'),
  memoryMib: z
    .int()
    .min(512)
    .default(MIB_OF_2_GIB)
    .describe('Memory of each task in MiB; Fargate has some sizes for each number of processors.'),
  architecture: z.enum(['x86_64', 'arm64']).default('x86_64').describe('Processor architecture of the image.'),
  containerName: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,255}$/, 'must have only letters, digits, "_" and "-"')
    .default('agent')
    .describe('Name of the container in its task.'),
  executionRole: role()
    .optional()
    .describe(
      'ARN of the role by which ECS pulls the image and writes the log; needed by images of ECR and by `log_group`.',
    ),
  taskRole: role().optional().describe('ARN of the role of the sessions themselves.'),
  logGroup: text().optional().describe('Log group of CloudWatch for the output of the agent.'),
  env: environmentMap()
    .optional()
    .describe('Environment variables of the agent and its sessions. Users who may read task definitions see them.'),
  stopTimeout: duration()
    .refine((ms) => ms <= LONGEST_STOP_MS, 'must be at most 120s on Fargate')
    .prefault('30s')
    .describe('Time for sessions to finish when a task is stopped; then they are killed.')
    .meta({ shapes: false }),
  tags,
  ...agentFileFields,
  endpoint,
};

export const EcsConfig = z.strictObject(fields).superRefine(({ logGroup, executionRole }, context) => {
  if (logGroup !== undefined && executionRole === undefined)
    context.addIssue({
      code: 'custom',
      path: ['logGroup'],
      message: 'needs execution_role, by which ECS writes the log',
    });
});
export type EcsConfig = z.output<typeof EcsConfig>;
