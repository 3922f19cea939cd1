// What a build leaves where it was killed: its machine, an AMI that has no tags yet, a key pair, a security group.
import type { SecurityGroup } from '@aws-sdk/client-ec2';
import { chunked } from '#core/chunked.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { BuildMark } from '#core/image-builder.ts';
import { markName, readImageTags, readMarkName } from '#packer/marks.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service } from '../client.ts';
import { findInstances } from '../launch-template/find.ts';
import { tagsOf } from '../launch-template/marks.ts';
import type { AmiConfig } from './config.ts';
import { dropAmi, findAmis, markOf } from './images.ts';
import { TAGS } from './source.ts';

type Ec2 = Service<Ec2Calls>;

const MARKED = { Name: 'tag-key', Values: [TAGS.build] };
// EC2 deletes no group that a machine still uses, and a machine takes a minute or two to end.
const GROUP_WITHIN_MS = 4 * MINUTE_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
const MOST_VALUES = 200;

/** The group of the machine of a build: SSH, and nothing else. Packer's own would bear no mark. */
export async function makeGroup(
  { ask }: Ec2,
  { subnetId, sshFrom }: AmiConfig,
  mark: BuildMark,
  signal: AbortSignal,
): Promise<string> {
  const name = markName(mark);
  const { Subnets = [] } = subnetId ? await ask('DescribeSubnets', { SubnetIds: [subnetId] }, { signal }) : {};
  const vpc = Subnets[0]?.VpcId;
  const Tags = [{ Key: TAGS.build, Value: name }];
  const input = {
    GroupName: name,
    Description: 'The machine that Muster makes an image on',
    TagSpecifications: [{ ResourceType: 'security-group' as const, Tags }],
    ...(vpc !== undefined && { VpcId: vpc }),
  };
  const { GroupId = '' } = await ask('CreateSecurityGroup', input, { signal }).catch((thrown) => {
    const { kind, message, cause } = Fault.from(thrown);
    const remedy = /VPCIdNotSpecified/.test(message) ? 'Set subnet_id: the account has no default VPC.' : undefined;
    throw new Fault(kind, message, { cause, remedy });
  });
  const rule = { IpProtocol: 'tcp', FromPort: 22, ToPort: 22, IpRanges: sshFrom.map((CidrIp) => ({ CidrIp })) };
  await ask('AuthorizeSecurityGroupIngress', { GroupId, IpPermissions: [rule] }, { signal });
  return GroupId;
}

async function markedGroups({ ask, clock }: Ec2, signal: AbortSignal): Promise<SecurityGroup[]> {
  const all: SecurityGroup[] = [];
  await inPages(clock, signal, async (token) => {
    const input = { Filters: [MARKED], MaxResults: 1_000, ...(token ? { NextToken: token } : {}) };
    const { SecurityGroups = [], NextToken } = await ask('DescribeSecurityGroups', input, { signal });
    all.push(...SecurityGroups);
    return NextToken;
  });
  return all;
}

/** Tries until the machine that uses it is gone; answers whether it is deleted. */
async function deleteGroup({ ask, clock }: Ec2, id: string, signal: AbortSignal): Promise<void> {
  const untilMs = clock.monotonic() + GROUP_WITHIN_MS;
  for (;;) {
    try {
      return void (await ask('DeleteSecurityGroup', { GroupId: id }, { signal }));
    } catch (thrown) {
      const { kind, message } = Fault.from(thrown);
      if (kind === 'missing') return;
      if (!/DependencyViolation/.test(message) || signal.aborted || clock.monotonic() >= untilMs) throw thrown;
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }
}

/** An AMI gets its tags last: until then it is known by the machine that it was taken from. */
async function dropUnfinished(ec2: Ec2, machines: readonly string[], signal: AbortSignal): Promise<string[]> {
  const dropped: string[] = [];
  for (const some of chunked(machines, MOST_VALUES)) {
    const amis = await findAmis(ec2, [{ Name: 'source-instance-id', Values: some }], signal);
    for (const ami of amis) {
      const tags = Object.fromEntries((ami.Tags ?? []).map(({ Key = '', Value = '' }) => [Key, Value]));
      if (readImageTags(TAGS, tags)) continue;
      await dropAmi(ec2, ami.ImageId ?? '', signal);
      dropped.push(ami.ImageId ?? '');
    }
  }
  return dropped;
}

/** Removes what builds have left that are over; answers its names. */
export async function cleanUp(ec2: Ec2, isOver: (mark: BuildMark) => boolean, signal: AbortSignal): Promise<string[]> {
  const { ask } = ec2;
  const isLeft = (mark: BuildMark | undefined): boolean => mark !== undefined && isOver(mark);
  const machines = (await findInstances(ec2, [MARKED], signal)).filter((one) =>
    isLeft(readMarkName(tagsOf(one).get(TAGS.build) ?? '')),
  );
  const idsOf = (some: typeof machines): string[] => some.map(({ InstanceId = '' }) => InstanceId);
  // First of all, for it cannot be found any more once its machine is forgotten.
  const removed = await dropUnfinished(ec2, idsOf(machines), signal);
  const living = idsOf(machines.filter(({ State }) => !['shutting-down', 'terminated'].includes(State?.Name ?? '')));
  for (const some of chunked(living, MOST_VALUES))
    await ask('TerminateInstances', { InstanceIds: [...some] }, { signal, machines: some.length });
  const { KeyPairs = [] } = await ask(
    'DescribeKeyPairs',
    { Filters: [{ Name: 'key-name', Values: ['muster-image-*'] }] },
    { signal },
  );
  const keys = KeyPairs.map(({ KeyName = '' }) => KeyName).filter((name) => isLeft(readMarkName(name)));
  for (const KeyName of keys) await ask('DeleteKeyPair', { KeyName }, { signal });
  const groups = (await markedGroups(ec2, signal)).filter((group) => isLeft(markOf(group)));
  for (const { GroupId = '' } of groups) await deleteGroup(ec2, GroupId, signal);
  return [...removed, ...living, ...keys, ...groups.map(({ GroupId = '' }) => GroupId)];
}
