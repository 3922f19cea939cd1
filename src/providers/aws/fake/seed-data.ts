// What every region has from the start: enough to launch something.
import { DAY_MS } from '#core/clock.ts';
import type { InstanceType, Region } from './region.ts';
import { setParameter } from './ssm/parameter.ts';
import { paramsOf } from './wire/params.ts';
import type { World } from './world.ts';

const VPC = 'vpc-0000000000000000d';

/** Ids that are the same in every region and run, for tests and examples. */
export const SEED_DATA = {
  image: 'ami-00000000000000a9e',
  oldImage: 'ami-00000000000000a9d',
  armImage: 'ami-00000000000000a64',
  standardImage: 'ami-0000000000000d1a0',
  armStandardImage: 'ami-0000000000000d1a6',
  subnets: ['subnet-0000000000000000a', 'subnet-0000000000000000b', 'subnet-0000000000000000c'],
  group: 'sg-00000000000000001',
  defaultGroup: 'sg-0000000000000000d',
  keyPair: 'velda-ops',
  profile: 'velda-agent',
  gpuTemplate: 'velda-gpu-workers',
  cpuTemplate: 'velda-cpu-workers',
  ecsCluster: 'default',
} as const;

/** The access keys that the fake knows at its start: those of tests, of benches and of the simulation. */
export const ACCESS_KEYS: readonly string[] = ['AKIATEST', 'AKIABENCH', 'simulated'];

/** The regions of the partition `aws` in botocore 1.44.3 (`endpoints.json`). */
export const REGIONS: ReadonlySet<string> = new Set(
  [
    'af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1',
    'ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-central-1 ca-west-1',
    'eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 il-central-1',
    'me-central-1 me-south-1 mx-central-1 sa-east-1 us-east-1 us-east-2 us-west-1 us-west-2',
  ].flatMap((line) => line.split(' ')),
);

/** A backend of a pool as its users write it, that can be launched from in any region. */
export const GPU_BACKEND = {
  launch_template_name: SEED_DATA.gpuTemplate,
  instance_type: 'p3.2xlarge',
  ami_id: SEED_DATA.image,
  subnet_id: SEED_DATA.subnets[0],
  security_group_ids: [SEED_DATA.group],
};

const AMAZON = '898082745236';
const standardAlias = (architecture: string): string =>
  `/aws/service/deeplearning/ami/${architecture}/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id`;

const plain = (name: string, vcpus: number, memoryGib: number, architecture = 'x86_64'): InstanceType => ({
  name,
  vcpus,
  memoryMib: memoryGib * 1_024,
  architecture,
});

function withGpus(
  name: string,
  size: readonly [vcpus: number, memoryGib: number],
  gpu: readonly [name: string, count: number, gib: number],
): InstanceType {
  const gpus = { name: gpu[0], maker: 'NVIDIA', count: gpu[1], memoryMib: gpu[2] * 1_024 };
  return { ...plain(name, size[0], size[1]), gpus };
}

const TYPES: readonly InstanceType[] = [
  plain('t2.micro', 1, 1),
  plain('t3.micro', 2, 1),
  plain('t3.medium', 2, 4),
  plain('m5.large', 2, 8),
  plain('m5.xlarge', 4, 16),
  plain('c5.large', 2, 4),
  plain('c5.xlarge', 4, 8),
  plain('c5.2xlarge', 8, 16),
  plain('c5.4xlarge', 16, 32),
  plain('c5.9xlarge', 36, 72),
  plain('r5.xlarge', 4, 32),
  plain('c7g.xlarge', 4, 8, 'arm64'),
  withGpus('g4dn.xlarge', [4, 16], ['T4', 1, 16]),
  withGpus('g4dn.2xlarge', [8, 32], ['T4', 1, 16]),
  withGpus('g4dn.12xlarge', [48, 192], ['T4', 4, 16]),
  withGpus('g5.xlarge', [4, 16], ['A10G', 1, 24]),
  withGpus('g5.12xlarge', [48, 192], ['A10G', 4, 24]),
  withGpus('p3.2xlarge', [8, 61], ['V100', 1, 16]),
  withGpus('p3.8xlarge', [32, 244], ['V100', 4, 16]),
  withGpus('p3.16xlarge', [64, 488], ['V100', 8, 16]),
  withGpus('p4d.24xlarge', [96, 1_152], ['A100', 8, 40]),
  withGpus('p5.48xlarge', [192, 2_048], ['H100', 8, 80]),
];

function addNetwork(region: Region): void {
  for (const [index, zone] of region.zones.entries()) {
    const id = SEED_DATA.subnets[index] as string;
    region.subnets.set(id, { id, vpcId: VPC, zone, block: `172.31.${index * 16}.0/20` });
  }
  region.groups.set(SEED_DATA.defaultGroup, { id: SEED_DATA.defaultGroup, name: 'default', vpcId: VPC });
  region.groups.set(SEED_DATA.group, { id: SEED_DATA.group, name: 'velda-agent', vpcId: VPC });
}

function addImages(region: Region, { account, clock }: World): void {
  const add = (id: string, name: string, more: { ageMs: number; owner?: string; architecture?: string }): void => {
    const { ageMs, owner = account, architecture = 'x86_64' } = more;
    const ownerAlias = owner === AMAZON ? 'amazon' : undefined;
    region.images.set(id, { id, name, owner, ownerAlias, createdAtMs: clock.now() - ageMs, architecture });
  };
  add(SEED_DATA.image, 'velda-agent-2026.2', { ageMs: 10 * DAY_MS });
  add(SEED_DATA.oldImage, 'velda-agent-2026.1', { ageMs: 40 * DAY_MS });
  add(SEED_DATA.armImage, 'velda-agent-arm-2026.2', { ageMs: 10 * DAY_MS, architecture: 'arm64' });
  const standard = [
    ['x86_64', 'Deep Learning Base', SEED_DATA.standardImage],
    ['arm64', 'Deep Learning ARM64 Base', SEED_DATA.armStandardImage],
  ] as const;
  for (const [architecture, stem, id] of standard) {
    const name = `${stem} OSS Nvidia Driver GPU AMI (Ubuntu 24.04) 20260101`;
    add(id, name, { ageMs: 5 * DAY_MS, owner: AMAZON, architecture });
    setParameter(region, {
      name: standardAlias(architecture),
      kind: 'String',
      tier: 'Standard',
      description: undefined,
      keyId: undefined,
      dataType: 'aws:ec2:image',
      allowedPattern: undefined,
      versions: [{ value: id, version: 1, atMs: clock.now() - 5 * DAY_MS }],
      tags: new Map(),
    });
  }
}

function addTemplates(region: Region, { clock }: World): void {
  const add = (id: string, name: string, instanceType: string): void => {
    const data = paramsOf({
      ImageId: SEED_DATA.image,
      InstanceType: instanceType,
      SecurityGroupId: [SEED_DATA.group],
      MetadataOptions: { HttpTokens: 'required', InstanceMetadataTags: 'enabled' },
      TagSpecification: [{ ResourceType: 'instance', Tag: [{ Key: 'template', Value: name }] }],
    });
    const versions = [{ data, note: undefined, atMs: clock.now() - DAY_MS }];
    region.templates.set(id, {
      id,
      name,
      createdAtMs: clock.now() - DAY_MS,
      defaultVersion: 1,
      versions,
      tags: new Map(),
    });
  };
  add('lt-0000000000000000a', SEED_DATA.gpuTemplate, 'p3.2xlarge');
  add('lt-0000000000000000b', SEED_DATA.cpuTemplate, 'c5.4xlarge');
}

export function fillRegion(region: Region, world: World): void {
  addNetwork(region);
  region.keyPairs.add(SEED_DATA.keyPair);
  region.profiles.add(SEED_DATA.profile);
  addImages(region, world);
  for (const type of TYPES) {
    region.types.set(type.name, type);
    region.offerings.set(type.name, region.zones);
  }
  region.ecsClusters.add(SEED_DATA.ecsCluster);
  addTemplates(region, world);
}
