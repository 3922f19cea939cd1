import {
  CreateLaunchTemplateCommand,
  CreateLaunchTemplateVersionCommand,
  DescribeLaunchTemplatesCommand,
  type DescribeLaunchTemplatesCommandInput,
  DescribeLaunchTemplateVersionsCommand,
  ModifyLaunchTemplateCommand,
  RunInstancesCommand,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { SEED_DATA } from '../seed-data.ts';
import { openScene } from '../testing.ts';

const DATA = {
  ImageId: SEED_DATA.image,
  InstanceType: 'c5.large' as const,
  UserData: Buffer.from('#!/bin/sh\necho hello\n').toString('base64'),
  NetworkInterfaces: [
    { DeviceIndex: 0, AssociatePublicIpAddress: true, SubnetId: SEED_DATA.subnets[1], Groups: [SEED_DATA.group] },
  ],
  TagSpecifications: [{ ResourceType: 'instance' as const, Tags: [{ Key: 'a', Value: 'b' }] }],
};

test('a template reads back as it was written', async () => {
  const { ec2 } = openScene();
  await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName: 'mine', LaunchTemplateData: DATA }));

  const { LaunchTemplateVersions } = await ec2.send(
    new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName: 'mine', Versions: ['$Default'] }),
  );

  expect(LaunchTemplateVersions).toMatchObject([
    { LaunchTemplateName: 'mine', VersionNumber: 1, DefaultVersion: true, LaunchTemplateData: DATA },
  ]);
});

test('default, latest and numbered versions are different', async () => {
  const { ec2 } = openScene();
  const name = { LaunchTemplateName: 'mine' };
  const image = async (Version: string): Promise<string | undefined> => {
    const launch = { MinCount: 1, MaxCount: 1, LaunchTemplate: { ...name, Version } };
    const { Instances } = await ec2.send(new RunInstancesCommand(launch));
    return Instances?.[0]?.ImageId;
  };
  await ec2.send(new CreateLaunchTemplateCommand({ ...name, LaunchTemplateData: DATA }));
  await ec2.send(
    new CreateLaunchTemplateVersionCommand({
      ...name,
      SourceVersion: '1',
      LaunchTemplateData: { ImageId: SEED_DATA.oldImage },
    }),
  );

  expect(await image('$Default')).toBe(SEED_DATA.image);
  expect(await image('$Latest')).toBe(SEED_DATA.oldImage);
  await ec2.send(new ModifyLaunchTemplateCommand({ ...name, DefaultVersion: '2' }));
  expect(await image('$Default')).toBe(SEED_DATA.oldImage);
  expect(await image('1')).toBe(SEED_DATA.image);
});

test('templates are found by name and filter, and one that is not there is refused', async () => {
  const { ec2 } = openScene();
  const found = async (input: DescribeLaunchTemplatesCommandInput) =>
    (await ec2.send(new DescribeLaunchTemplatesCommand(input))).LaunchTemplates?.map((one) => one.LaunchTemplateName);

  expect(await found({ LaunchTemplateNames: [SEED_DATA.gpuTemplate] })).toEqual([SEED_DATA.gpuTemplate]);
  expect(await found({ Filters: [{ Name: 'launch-template-name', Values: ['velda-c*'] }] })).toEqual([
    SEED_DATA.cpuTemplate,
  ]);
  await expect(found({ LaunchTemplateNames: ['no'] })).rejects.toMatchObject({
    name: 'InvalidLaunchTemplateName.NotFoundException',
  });
});

test('a name is given once', async () => {
  const { ec2 } = openScene();
  const command = new CreateLaunchTemplateCommand({ LaunchTemplateName: 'mine', LaunchTemplateData: DATA });
  await ec2.send(command);

  await expect(ec2.send(command)).rejects.toMatchObject({ name: 'InvalidLaunchTemplateName.AlreadyExistsException' });
});
