import { RunInstancesCommand, type RunInstancesCommandInput } from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import { SEED_DATA } from '../seed-data.ts';
import { LAUNCH, openScene } from '../testing.ts';
import { paramsOf } from '../wire/params.ts';
import { stateAt } from './instance.ts';

type Scene = ReturnType<typeof openScene>;

const run = ({ ec2 }: Scene, input: Partial<RunInstancesCommandInput> = {}) =>
  ec2.send(new RunInstancesCommand({ ...LAUNCH, ...input }));

const refused = (scene: Scene, input: Partial<RunInstancesCommandInput>) => expect(run(scene, input)).rejects;

function addTemplate({ fake }: Scene, name: string, data: Parameters<typeof paramsOf>[0]): void {
  const version = { data: paramsOf(data), note: undefined, atMs: 0 };
  fake.region('us-west-2').templates.set(`lt-${name}`, {
    id: `lt-${name}`,
    name,
    createdAtMs: 0,
    defaultVersion: 1,
    versions: [version],
    tags: new Map(),
  });
}

describe('a launch', () => {
  test('makes as many as were asked, each with its index, pending first and running later', async () => {
    const scene = openScene();

    const reply = await run(scene, { MinCount: 1, MaxCount: 3 });

    expect(reply.Instances?.map(({ AmiLaunchIndex }) => AmiLaunchIndex)).toEqual([0, 1, 2]);
    expect(reply.Instances?.map(({ State }) => State)).toEqual(Array(3).fill({ Code: 0, Name: 'pending' }));
    expect(new Set(scene.fake.machines().map(({ reservation }) => reservation)).size).toBe(1);

    await scene.clock.advance(10_000);

    expect(scene.fake.machines().map((one) => stateAt(one, scene.clock.now()))).toEqual(Array(3).fill('running'));
  });

  test('carries its tags and the marks of its template', async () => {
    const scene = openScene();

    const { Instances } = await run(scene, {
      ImageId: undefined,
      LaunchTemplate: { LaunchTemplateName: SEED_DATA.gpuTemplate, Version: '$Default' },
      TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'muster:pool', Value: 'ü <&> "p"' }] }],
    });

    expect(Instances?.[0]?.Tags).toEqual([
      { Key: 'template', Value: SEED_DATA.gpuTemplate },
      { Key: 'muster:pool', Value: 'ü <&> "p"' },
      { Key: 'aws:ec2launchtemplate:id', Value: 'lt-0000000000000000a' },
      { Key: 'aws:ec2launchtemplate:version', Value: '1' },
    ]);
    expect(Instances?.[0]).toMatchObject({ InstanceType: 'c5.large', ImageId: SEED_DATA.image });
    expect(Instances?.[0]?.SecurityGroups).toEqual([{ GroupId: SEED_DATA.group, GroupName: 'velda-agent' }]);
  });

  test('of spot capacity has its own code', async () => {
    const scene = openScene();

    const { Instances } = await run(scene, { InstanceMarketOptions: { MarketType: 'spot' } });

    expect(Instances?.[0]).toMatchObject({
      InstanceLifecycle: 'spot',
      SpotInstanceRequestId: expect.stringMatching(/^sir-/),
    });
  });

  test('that is dry makes nothing', async () => {
    const scene = openScene();

    await refused(scene, { DryRun: true }).toMatchObject({ name: 'DryRunOperation' });

    expect(scene.fake.machines()).toEqual([]);
  });
});

describe('a client token', () => {
  test('makes a repeated call answer with what the first made', async () => {
    const scene = openScene();

    const first = await run(scene, { ClientToken: 'launch-1', MaxCount: 2 });
    await scene.clock.advance(10_000);
    const again = await run(scene, { ClientToken: 'launch-1', MaxCount: 2 });

    expect(again.Instances?.map(({ InstanceId }) => InstanceId)).toEqual(
      first.Instances?.map(({ InstanceId }) => InstanceId),
    );
    expect(again.ReservationId).toBe(first.ReservationId);
    expect(again.Instances?.[0]?.State?.Name).toBe('running');
    expect(scene.fake.machines()).toHaveLength(2);
  });

  test('with other parameters is refused', async () => {
    const scene = openScene();
    await run(scene, { ClientToken: 'launch-1' });

    await refused(scene, { ClientToken: 'launch-1', MaxCount: 2 }).toMatchObject({
      name: 'IdempotentParameterMismatch',
    });

    expect(scene.fake.machines()).toHaveLength(1);
  });

  test('of a refused call is free again', async () => {
    const scene = openScene();
    scene.fake.region('us-west-2').stock.machines.set('c5.large', 0);
    await refused(scene, { ClientToken: 'launch-1' }).toMatchObject({ name: 'InsufficientInstanceCapacity' });
    scene.fake.region('us-west-2').stock.machines.delete('c5.large');

    await run(scene, { ClientToken: 'launch-1', InstanceType: 'c5.large' });

    expect(scene.fake.machines()).toHaveLength(1);
  });
});

describe('capacity', () => {
  test('that suffices for some gives those, and for fewer than the least gives none', async () => {
    const scene = openScene();
    scene.fake.region('us-west-2').stock.machines.set('c5.large', 3);

    const first = await run(scene, { MinCount: 1, MaxCount: 2 });
    const second = await run(scene, { MinCount: 1, MaxCount: 5 });

    expect([first.Instances?.length, second.Instances?.length]).toEqual([2, 1]);
    await refused(scene, {}).toMatchObject({
      name: 'InsufficientInstanceCapacity',
      $metadata: { httpStatusCode: 500 },
      message: expect.stringContaining('us-west-2a'),
    });
  });

  test('can lack in one zone alone', async () => {
    const scene = openScene();
    scene.fake.region('us-west-2').stock.machines.set('c5.large@us-west-2a', 1);
    await run(scene, { SubnetId: SEED_DATA.subnets[1] });
    await run(scene);

    await refused(scene, {}).toMatchObject({ name: 'InsufficientInstanceCapacity' });
    const other = await run(scene, { SubnetId: SEED_DATA.subnets[1] });

    expect(other.Instances?.[0]?.Placement?.AvailabilityZone).toBe('us-west-2b');
  });

  test('that is found lacking late turns a pending machine to terminated, with the reason', async () => {
    const scene = openScene();
    scene.fake.region('us-west-2').stock.late.set('c5.large', 1);

    const { Instances } = await run(scene, { MaxCount: 2 });

    expect(Instances?.map(({ State }) => State?.Name)).toEqual(['pending', 'pending']);
    await scene.clock.advance(9_000);
    const [late, good] = scene.fake.machines();
    expect(late?.timeline.at(-1)).toMatchObject({
      state: 'terminated',
      reason: { code: 'Server.InsufficientInstanceCapacity' },
    });
    expect(good && stateAt(good, scene.clock.now())).toBe('running');
  });

  test('of the account is counted in vCPUs by family, spot apart', async () => {
    const scene = openScene();
    const { vcpus } = scene.fake.region('us-west-2').stock;
    vcpus.set('standard', 4).set('spot:standard', 0);

    await run(scene, { MaxCount: 2 });

    await refused(scene, {}).toMatchObject({ name: 'VcpuLimitExceeded' });
    await refused(scene, { InstanceMarketOptions: { MarketType: 'spot' } }).toMatchObject({
      name: 'MaxSpotInstanceCountExceeded',
    });
    await run(scene, { InstanceType: 'p3.2xlarge' });
  });
});

describe('network interfaces of a template', () => {
  test('refuse a subnet or groups of the instance, and take those of interface 0', async () => {
    const scene = openScene();
    addTemplate(scene, 'with-interface', {
      ImageId: SEED_DATA.image,
      InstanceType: 'c5.large',
      NetworkInterface: [{ DeviceIndex: 0, AssociatePublicIpAddress: true, SecurityGroupId: [SEED_DATA.group] }],
    });
    const of = { ImageId: undefined, SubnetId: undefined, LaunchTemplate: { LaunchTemplateName: 'with-interface' } };

    await refused(scene, { ...of, SubnetId: SEED_DATA.subnets[1] }).toMatchObject({
      name: 'InvalidParameterCombination',
    });
    await refused(scene, { ...of, SecurityGroupIds: [SEED_DATA.group] }).toMatchObject({
      name: 'InvalidParameterCombination',
    });
    const { Instances } = await run(scene, {
      ...of,
      NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: SEED_DATA.subnets[1], Groups: [SEED_DATA.group] }],
    });

    expect(Instances?.[0]).toMatchObject({
      SubnetId: SEED_DATA.subnets[1],
      PublicIpAddress: expect.any(String),
      SecurityGroups: [{ GroupId: SEED_DATA.group }],
    });
  });
});

const LONG = Buffer.alloc(16_385).toString('base64');
const tagged = (Tags: { Key: string; Value: string }[]): Partial<RunInstancesCommandInput> => ({
  TagSpecifications: [{ ResourceType: 'instance', Tags }],
});

test.each<[string, Partial<RunInstancesCommandInput>, string]>([
  ['an image that is not there', { ImageId: 'ami-0123456789abcdef0' }, 'InvalidAMIID.NotFound'],
  ['an image id that is none', { ImageId: 'aws-ml' }, 'InvalidAMIID.Malformed'],
  ['no image', { ImageId: undefined }, 'MissingParameter'],
  ['a type that is not there', { InstanceType: 'z9.huge' as 'c5.large' }, 'InvalidParameterValue'],
  ['an image of another architecture', { ImageId: SEED_DATA.armImage }, 'InvalidParameterValue'],
  ['a subnet that is not there', { SubnetId: 'subnet-1' }, 'InvalidSubnetID.NotFound'],
  ['a group that is not there', { SecurityGroupIds: ['sg-1'] }, 'InvalidGroup.NotFound'],
  [
    'a template that is not there',
    { LaunchTemplate: { LaunchTemplateName: 'no' } },
    'InvalidLaunchTemplateName.NotFoundException',
  ],
  [
    'a template id that is not there',
    { LaunchTemplate: { LaunchTemplateId: 'lt-1' } },
    'InvalidLaunchTemplateId.NotFound',
  ],
  [
    'a version that is not there',
    { LaunchTemplate: { LaunchTemplateName: SEED_DATA.gpuTemplate, Version: '7' } },
    'InvalidLaunchTemplateId.VersionNotFound',
  ],
  ['user data that is no base64', { UserData: '#!/bin/sh' }, 'InvalidUserData.Malformed'],
  ['user data over 16 KB', { UserData: LONG }, 'InvalidParameterValue'],
  ['fewer than none', { MinCount: 0 }, 'InvalidParameterValue'],
  ['a least above the most', { MinCount: 2 }, 'InvalidParameterCombination'],
  ['a tag of AWS', tagged([{ Key: 'aws:x', Value: 'y' }]), 'InvalidParameterValue'],
  [
    'a tag twice',
    tagged([
      { Key: 'a', Value: '1' },
      { Key: 'a', Value: '2' },
    ]),
    'InvalidParameterValue',
  ],
  ['a key over 128', tagged([{ Key: 'k'.repeat(129), Value: '' }]), 'InvalidParameterValue'],
  ['a value over 256', tagged([{ Key: 'k', Value: 'v'.repeat(257) }]), 'InvalidParameterValue'],
  [
    'a key that the machine could not read',
    { ...tagged([{ Key: 'cost centre', Value: '' }]), MetadataOptions: { InstanceMetadataTags: 'enabled' } },
    'InvalidParameterValue',
  ],
  [
    'more than 50 tags',
    tagged(Array.from({ length: 51 }, (_, n) => ({ Key: `k${n}`, Value: '' }))),
    'TagLimitExceeded',
  ],
  ['a token over 64', { ClientToken: 'x'.repeat(65) }, 'InvalidParameterValue'],
])('%s is refused', async (_what, input, code) => {
  const scene = openScene();

  await refused(scene, input).toMatchObject({ name: code });

  expect(scene.fake.machines()).toEqual([]);
});

test('a type that the zone does not offer is refused', async () => {
  const scene = openScene();
  scene.fake.region('us-west-2').offerings.set('c5.large', ['us-west-2b']);

  await refused(scene, {}).toMatchObject({ name: 'Unsupported' });
  const { Instances } = await run(scene, { SubnetId: undefined });

  expect(Instances?.[0]?.Placement?.AvailabilityZone).toBe('us-west-2b');
});
