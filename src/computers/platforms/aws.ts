import { z } from 'zod';
import { type Platform, present, sharedFields, textList } from './platform.ts';

const options = z.strictObject({
  ...sharedFields(300),
  region: z.string().min(1).default('us-west-2').describe('Region.'),
  instanceType: z.string().min(1).default('t2.micro').describe('Instance type.'),
  imageId: z.string().min(1).optional().describe('Image; absent: the standard image, on which the agent is installed.'),
  securityGroups: textList().optional().describe('Ids of security groups; absent: the default one of the VPC.'),
});

export const aws: Platform<z.output<typeof options>> = {
  summary: 'an EC2 instance',
  needsAdmin: false,
  options,
  backend: ({ region, instanceType, imageId, securityGroups }) => ({
    aws_launch_template: present({
      region,
      instance_type: instanceType,
      ami_id: imageId,
      security_group_ids: securityGroups,
    }),
  }),
};
