import {
  DescribeImagesCommand,
  DescribeInstanceTypeOfferingsCommand,
  type DescribeInstanceTypeOfferingsCommandInput,
  DescribeInstanceTypesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { SEED_DATA } from '../seed-data.ts';
import { openScene } from '../testing.ts';

test('images are found by a pattern of their name, by owner, with the date of their making', async () => {
  const { ec2 } = openScene();
  const Filters = [{ Name: 'name', Values: ['velda-agent-2*'] }];

  const { Images = [] } = await ec2.send(new DescribeImagesCommand({ Owners: ['self'], Filters }));
  const foreign = await ec2.send(new DescribeImagesCommand({ Owners: ['amazon'], Filters }));
  const newest = Images.toSorted((a, b) => ((a.CreationDate ?? '') < (b.CreationDate ?? '') ? 1 : -1))[0];

  expect(Images).toHaveLength(2);
  expect(newest).toMatchObject({ ImageId: SEED_DATA.image, State: 'available', Architecture: 'x86_64' });
  expect(foreign.Images).toEqual([]);
  await expect(ec2.send(new DescribeImagesCommand({ ImageIds: ['ami-1'] }))).rejects.toMatchObject({
    name: 'InvalidAMIID.NotFound',
  });
});

test('offerings are by region or by zone, and come in pages', async () => {
  const { ec2, fake } = openScene();
  fake.region('us-west-2').offerings.set('p5.48xlarge', ['us-west-2b']);
  fake.region('us-west-2').offerings.set('c5.9xlarge', []);
  const offered = async (input: DescribeInstanceTypeOfferingsCommandInput) => {
    const reply = await ec2.send(new DescribeInstanceTypeOfferingsCommand(input));
    return { types: reply.InstanceTypeOfferings?.map(({ InstanceType }) => InstanceType), token: reply.NextToken };
  };

  const inRegion = await offered({ LocationType: 'region' });
  const inZone = await offered({
    LocationType: 'availability-zone',
    Filters: [{ Name: 'location', Values: ['us-west-2a'] }],
  });
  const first = await offered({ LocationType: 'region', MaxResults: 5 });
  const second = await offered({ LocationType: 'region', MaxResults: 5, NextToken: first.token });

  expect(inRegion.types).toContain('p5.48xlarge');
  expect(inRegion.types).not.toContain('c5.9xlarge');
  expect(inZone.types).toContain('p3.2xlarge');
  expect(inZone.types).not.toContain('p5.48xlarge');
  expect([...(first.types ?? []), ...(second.types ?? [])]).toEqual(inRegion.types?.slice(0, 10));
});

test('types tell their processors, memory and accelerators', async () => {
  const { ec2 } = openScene();

  const { InstanceTypes } = await ec2.send(new DescribeInstanceTypesCommand({ InstanceTypes: ['p4d.24xlarge'] }));

  expect(InstanceTypes).toMatchObject([
    {
      VCpuInfo: { DefaultVCpus: 96 },
      MemoryInfo: { SizeInMiB: 1_179_648 },
      ProcessorInfo: { SupportedArchitectures: ['x86_64'] },
      GpuInfo: { Gpus: [{ Name: 'A100', Manufacturer: 'NVIDIA', Count: 8, MemoryInfo: { SizeInMiB: 40_960 } }] },
    },
  ]);
});

test('subnets and groups are found', async () => {
  const { ec2 } = openScene();
  const Filters = [{ Name: 'availability-zone', Values: ['us-west-2b'] }];

  const { Subnets } = await ec2.send(new DescribeSubnetsCommand({ Filters }));
  const { SecurityGroups } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [SEED_DATA.group] }));

  expect(Subnets).toMatchObject([{ SubnetId: SEED_DATA.subnets[1], AvailabilityZone: 'us-west-2b' }]);
  expect(SecurityGroups).toMatchObject([{ GroupId: SEED_DATA.group, GroupName: 'velda-agent' }]);
});
