import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { imageKeys, machineImage } from './machine-image.ts';
import { type Platform, placeName, present, sharedFields, textList } from './platform.ts';

const options = z.strictObject({
  ...sharedFields(300),
  region: placeName().default('us-west-2').describe('Region.'),
  instanceType: z.string().min(1).default('t2.micro').describe('Instance type.'),
  imageId: machineImage('aws-ami'),
  securityGroups: textList()
    .optional()
    .describe('Security groups, by ids or by names in the default VPC; absent: the default one of the VPC.'),
});

const isGroupId = (text: string): boolean => /^sg-[0-9a-f]+$/.test(text);

function groupsOf(groups: readonly string[] | undefined): Readonly<Record<string, readonly string[]>> {
  if (!groups) return {};
  const ids = groups.filter(isGroupId);
  if (ids.length === groups.length) return { security_group_ids: ids };
  if (ids.length === 0) return { security_groups: groups };
  throw new Fault('invalid', 'The platform aws takes security groups by ids or by names, not both.', {
    at: 'options.security_groups',
    remedy: `Give names alone, or the id in place of ${groups.find((one) => !isGroupId(one))}.`,
  });
}

export const aws: Platform<z.output<typeof options>> = {
  summary: 'an EC2 instance',
  needsAdmin: false,
  options,
  backend: ({ region, instanceType, imageId, securityGroups }) => ({
    aws_launch_template: present({
      region,
      instance_type: instanceType,
      ...imageKeys(imageId, { key: 'ami_id', newest: (name) => ({ ami_name: `${name}-*` }) }),
      ...groupsOf(securityGroups),
    }),
  }),
};
