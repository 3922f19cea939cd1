// What people write in a NodeProvisioner. The CustomResourceDefinition is made from this.
import { z } from 'zod';

const percent = () => z.int().min(1).max(100).optional();
const seconds = (least: number, most: number) => z.int().min(least).max(most).optional();
const many = () => z.int().min(0).optional();

const DAY_S = 86_400;

const flexStart = z
  .object({
    runSeconds: seconds(600, 7 * DAY_S).describe('How long a machine runs; 604800 where it is not set.'),
    waitSeconds: seconds(1, DAY_S).describe('How long to wait for capacity before the next group is asked; 900.'),
  })
  .describe('Machines come from the queue of the cloud and end after a set time.');

const instanceGroup = z
  .object({
    name: z.string().min(1).describe('Bare name of the instance group.'),
    account: z.string().optional().describe('Which of `nodes.accounts` it is in, where the name alone is not clear.'),
    priority: z.int().optional().describe('Groups with a lower number are grown first; by default their order here.'),
    minSize: many().describe('It is never made smaller than this.'),
    maxSize: many().describe('It is never made larger than this.'),
    pricePerHour: z.number().min(0).optional().describe('What one of its nodes costs, in dollars.'),
    flexStart: flexStart.optional(),
    template: z.string().optional().describe('One of the templates in the file of the server, for `create`.'),
    create: z.boolean().optional().describe('Muster makes the group from `template` where it is missing.'),
    dropWhenEmpty: z.boolean().optional().describe('Muster drops the group while it is empty, if it made it.'),
  })
  .describe('An instance group with what holds for it alone.');

/** The spec as it is written. Defaults are applied when it is read, so that both spellings of a key are told apart. */
export const NodePoolSpec = z.object({
  existingInstanceGroupNames: z
    .array(z.string().min(1))
    .optional()
    .describe('Bare names of instance groups that exist, the first one is grown first.'),
  instanceGroups: z
    .array(instanceGroup)
    .optional()
    .describe('Instance groups with settings of their own; after those of existingInstanceGroupNames.'),
  minGPUUtilizationPercent: percent().describe('Nodes are taken away while fewer GPUs than this are asked for.'),
  maxGPUUtilizationPercent: percent().describe('Nodes are added before more GPUs than this are asked for.'),
  minUnutilizedGPUNodes: many().describe('How many nodes without any pod that asks for GPUs are kept.'),
  scaleDownDelay: seconds(0, 30 * DAY_S).describe('Seconds between the taint of an empty node and its deletion; 600.'),
  scaleDownDelaySeconds: seconds(0, 30 * DAY_S).describe('Another spelling of scaleDownDelay.'),
  minNodes: many().describe('There are never fewer nodes than this.'),
  maxNodes: many().describe('There are never more nodes than this.'),
  registrationTimeoutSeconds: seconds(60, DAY_S).describe('How long a new machine may take to become a node; 900.'),
  gpuResource: z.string().min(1).optional().describe('The resource that counts; the first known one of a node.'),
  rotation: z
    .object({
      leadSeconds: seconds(0, 7 * DAY_S).describe('How long before its end a node is replaced; 7200.'),
      maxConcurrent: z.int().min(1).optional().describe('How many nodes are replaced at a time; 1.'),
    })
    .optional()
    .describe('Replacing nodes that end by themselves.'),
  defragmentation: z
    .object({
      mode: z.enum(['off', 'plan', 'act']).optional().describe('`plan` only shows what `act` would do; plan.'),
      maxNodesPerHour: z.int().min(1).optional().describe('How many nodes are freed in any hour; 2.'),
      maxEvictionsPerHour: z.int().min(1).optional().describe('How many pods are evicted in any hour; 20.'),
      maxConcurrent: z.int().min(1).optional().describe('How many nodes are emptied at a time; 1.'),
    })
    .optional()
    .describe('Emptying nodes whose pods fit on other nodes.'),
});

export type WrittenSpec = z.output<typeof NodePoolSpec>;
