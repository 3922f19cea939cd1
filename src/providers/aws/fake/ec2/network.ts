import { refusal } from '#fakes/refusal.ts';
import { hexId } from '../hex-id.ts';
import type { SecurityGroup, Subnet } from '../region.ts';
import { textAt, textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { ec2Page, readPageSize } from './describe-instances.ts';
import { filterOf, lookAtTags } from './filters.ts';
import { stateAt } from './instance.ts';
import { specifiedTags, tagSet } from './tags.ts';

const NO_TAGS: ReadonlyMap<string, string> = new Map();

function pick<T>(all: ReadonlyMap<string, T>, ids: readonly string[], missing: (id: string) => Error): T[] {
  const unknown = ids.find((id) => !all.has(id));
  if (unknown !== undefined) throw missing(unknown);
  return ids.length === 0 ? [...all.values()] : ids.map((id) => all.get(id) as T);
}

export function describeSubnets({ region, params, world }: Ask): Readonly<Record<string, Xml>> {
  const passes = filterOf<Subnet>(
    params,
    (subnet, name) => {
      const held: Readonly<Record<string, string>> = {
        'subnet-id': subnet.id,
        'vpc-id': subnet.vpcId,
        'availability-zone': subnet.zone,
        'default-for-az': 'true',
        state: 'available',
      };
      return lookAtTags(NO_TAGS, name) ?? [held[name]];
    },
    new Set(['subnet-id', 'vpc-id', 'availability-zone', 'default-for-az', 'state', 'tag-key']),
  );
  const subnets = pick(region.subnets, textsAt(params, 'SubnetId'), (id) =>
    refusal('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`),
  );
  return {
    subnetSet: subnets.filter(passes).map(({ id, vpcId, zone, block }) => ({
      subnetId: id,
      subnetArn: `arn:aws:ec2:${region.name}:${world.account}:subnet/${id}`,
      ownerId: world.account,
      state: 'available',
      vpcId,
      cidrBlock: block,
      availabilityZone: zone,
      availableIpAddressCount: 4_091,
      defaultForAz: true,
      mapPublicIpOnLaunch: true,
      tagSet: [],
    })),
  };
}

export function describeSecurityGroups(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params, world } = ask;
  const passes = filterOf<SecurityGroup>(
    params,
    (group, name) => {
      const held: Readonly<Record<string, string>> = {
        'group-id': group.id,
        'group-name': group.name,
        'vpc-id': group.vpcId,
      };
      return lookAtTags(group.tags ?? NO_TAGS, name) ?? [held[name]];
    },
    new Set(['group-id', 'group-name', 'vpc-id', 'tag-key']),
  );
  const groups = pick(region.groups, textsAt(params, 'GroupId'), (id) =>
    refusal('InvalidGroup.NotFound', `The security group '${id}' does not exist`),
  );
  const size = readPageSize(ask, { least: 5, most: 1_000 });
  const { items, token } = ec2Page(ask, groups.filter(passes).toSorted(byId), { size, keyOf: ({ id }) => id });
  return {
    nextToken: token,
    securityGroupInfo: items.map(({ id, name, vpcId, tags = NO_TAGS }) => ({
      groupId: id,
      groupName: name,
      groupDescription: name,
      ownerId: world.account,
      vpcId,
      ipPermissions: [],
      ipPermissionsEgress: [],
      tagSet: tagSet(tags),
    })),
  };
}

const byId = (a: SecurityGroup, b: SecurityGroup): number => (a.id < b.id ? -1 : 1);

export function createSecurityGroup({ region, params, world }: Ask): Readonly<Record<string, Xml>> {
  const name = textAt(params, 'GroupName') ?? '';
  const vpcs = [...region.subnets.values()].map(({ vpcId }) => vpcId);
  const vpcId = textAt(params, 'VpcId') ?? vpcs[0];
  if (vpcId === undefined) throw refusal('VPCIdNotSpecified', 'No default VPC for this user');
  if (!vpcs.includes(vpcId)) throw refusal('InvalidVpcID.NotFound', `The vpc ID '${vpcId}' does not exist`);
  if (name === '' || name.startsWith('sg-'))
    throw refusal('InvalidParameterValue', `Value (${name}) for parameter GroupName is invalid.`);
  if ([...region.groups.values()].some((one) => one.name === name && one.vpcId === vpcId))
    throw refusal('InvalidGroup.Duplicate', `The security group '${name}' already exists for VPC '${vpcId}'`);
  const id = hexId('sg', world.random);
  const tags = specifiedTags(params, 'security-group');
  region.groups.set(id, { id, name, vpcId, tags });
  return { groupId: id, return: true, tagSet: tagSet(tags) };
}

const groupMissing = (id: string): Error =>
  refusal('InvalidGroup.NotFound', `The security group '${id}' does not exist`);

export function authorizeSecurityGroupIngress({ region, params }: Ask): Readonly<Record<string, Xml>> {
  const id = textAt(params, 'GroupId') ?? '';
  if (!region.groups.has(id)) throw groupMissing(id);
  return { return: true };
}

export function deleteSecurityGroup({ region, params, nowMs }: Ask): Readonly<Record<string, Xml>> {
  const id = textAt(params, 'GroupId') ?? '';
  if (!region.groups.has(id)) throw groupMissing(id);
  const isUsed = [...region.instances.values()].some(
    (one) => one.groups.some((group) => group.id === id) && stateAt(one, nowMs) !== 'terminated',
  );
  if (isUsed) throw refusal('DependencyViolation', `resource ${id} has a dependent object`);
  region.groups.delete(id);
  return { return: true, groupId: id };
}

export function describeRegions({ params }: Ask): Readonly<Record<string, Xml>> {
  const known = ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'eu-central-1', 'eu-west-1', 'ap-northeast-1'];
  const wanted = textsAt(params, 'RegionName');
  return {
    regionInfo: known
      .filter((name) => wanted.length === 0 || wanted.includes(name))
      .map((name) => ({
        regionName: name,
        regionEndpoint: `ec2.${name}.amazonaws.com`,
        optInStatus: 'opt-in-not-required',
      })),
  };
}
