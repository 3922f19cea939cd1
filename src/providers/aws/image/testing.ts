// What Packer's builder amazon-ebs asks EC2 for (builder/amazon/ebs of Packer 1.6.6), for the tests of this folder.
import {
  CreateImageCommand,
  CreateKeyPairCommand,
  CreateTagsCommand,
  DeleteKeyPairCommand,
  DescribeImagesCommand,
  EC2Client,
  RunInstancesCommand,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import type { StandInCloud } from '#packer/testing/stand-in.ts';
import type { FakeAws } from '../fake/fake-aws.ts';
import { requestHandler } from '../http.ts';
import { type AwsScene, REGION } from '../testing.ts';

const BASE = 'ami-0000000000000ba5e';
const BOOT_MS = 10_000;

/** What the default configuration builds from, on its type of machine. */
export function addBase(fake: FakeAws): void {
  const region = fake.region(REGION);
  const name = 'ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20261101';
  const own = { owner: '099720109477', createdAtMs: 0, architecture: 'x86_64' };
  region.images.set(BASE, { id: BASE, name, ...own });
  region.types.set('t3.small', { name: 't3.small', vcpus: 2, memoryMib: 2_048, architecture: 'x86_64' });
  region.offerings.set('t3.small', region.zones);
}

const tagList = (tags: Readonly<Record<string, string>>) =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

export function packerFor({ fake, clock }: AwsScene): StandInCloud {
  const ec2 = new EC2Client({ region: REGION, requestHandler: requestHandler(fake.fetch), maxAttempts: 1 });
  const machines = new Map<string, string>();
  const images = new Map<string, string>();
  return {
    async start(template) {
      const key = template.text('temporary_key_pair_name');
      const owners = JSON.parse(template.text('owners').replace(/^(.*)$/, '["$1"]')) as string[];
      const { Images = [] } = await ec2.send(new DescribeImagesCommand({ Owners: owners }));
      await ec2.send(new CreateKeyPairCommand({ KeyName: key }));
      const Tags = tagList(template.tags('run_tags'));
      const { Instances = [] } = await ec2.send(
        new RunInstancesCommand({
          ImageId: Images.at(-1)?.ImageId,
          InstanceType: template.text('instance_type') as 't3.small',
          KeyName: key,
          SecurityGroupIds: template.tags('security_group_ids') as unknown as string[],
          TagSpecifications: [{ ResourceType: 'instance', Tags }],
          ...{ MinCount: 1, MaxCount: 1 },
        }),
      );
      machines.set(key, Instances[0]?.InstanceId ?? '');
      await clock.sleep(BOOT_MS);
    },
    async capture(template) {
      const key = template.text('temporary_key_pair_name');
      const InstanceId = machines.get(key);
      await ec2.send(new StopInstancesCommand({ InstanceIds: [InstanceId ?? ''] }));
      await clock.sleep(2 * BOOT_MS);
      const { ImageId } = await ec2.send(new CreateImageCommand({ InstanceId, Name: template.text('ami_name') }));
      images.set(key, ImageId ?? '');
      await clock.sleep(4 * BOOT_MS);
    },
    async finish(template) {
      const image = images.get(template.text('temporary_key_pair_name')) ?? '';
      await ec2.send(new CreateTagsCommand({ Resources: [image], Tags: tagList(template.tags('tags')) }));
    },
    async end(template) {
      const KeyName = template.text('temporary_key_pair_name');
      const machine = machines.get(KeyName);
      if (machine !== undefined) {
        await ec2.send(new TerminateInstancesCommand({ InstanceIds: [machine] }));
        await clock.sleep(2 * BOOT_MS);
      }
      await ec2.send(new DeleteKeyPairCommand({ KeyName }));
    },
  };
}
