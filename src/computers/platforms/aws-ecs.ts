import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { needed, type Platform, placeName, present, sharedFields, textList } from './platform.ts';
import { registryImage } from './registry-image.ts';

const PLATFORM = 'aws_ecs';

const options = z.strictObject({
  ...sharedFields(300),
  containerName: z.string().min(1).default('commandlab-daemon').describe('Name of the container.'),
  version: z.string().min(1).optional().describe('Version of the image, where `image` names none.'),
  image: z.string().min(1).optional().describe('Image in a registry that ECS can pull from; needed.'),
  region: placeName().optional().describe('Region; absent: AWS_REGION.'),
  clusterName: z.string().min(1).default('default').describe('Cluster of ECS; it must be there.'),
  subnets: textList().optional().describe('Subnets of one VPC; needed.'),
  securityGroups: textList().optional().describe('Security groups, by id; absent: the default one of the VPC.'),
  executionRole: z.string().min(1).optional().describe('ARN of the role by which ECS pulls the image; needed by ECR.'),
});

type EcsOptions = z.output<typeof options>;

/** ECS chooses no network by itself. */
function subnetsOf({ subnets }: EcsOptions): readonly string[] {
  if (subnets) return subnets;
  throw new Fault('invalid', `The platform ${PLATFORM} needs subnets.`, {
    at: 'options.subnets',
    remedy: 'Give subnets, like subnet-0abc1234; `aws ec2 describe-subnets` lists them.',
  });
}

export const awsEcs: Platform<EcsOptions> = {
  summary: 'a task of ECS on Fargate',
  needsAdmin: false,
  options,
  backend: (given, context) => ({
    aws_ecs: present({
      region: needed('region', given.region, { platform: PLATFORM, variable: 'AWS_REGION', context }),
      subnets: subnetsOf(given),
      image: registryImage(PLATFORM, given, context),
      cluster_name: given.clusterName,
      container_name: given.containerName,
      security_groups: given.securityGroups,
      execution_role: given.executionRole,
    }),
  }),
};
