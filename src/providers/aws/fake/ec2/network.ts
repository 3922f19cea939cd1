import { refusal } from '#fakes/refusal.ts';
import type { SecurityGroup, Subnet } from '../region.ts';
import { textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { filterOf, lookAtTags } from './filters.ts';

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

export function describeSecurityGroups({ region, params, world }: Ask): Readonly<Record<string, Xml>> {
  const passes = filterOf<SecurityGroup>(
    params,
    (group, name) => {
      const held: Readonly<Record<string, string>> = {
        'group-id': group.id,
        'group-name': group.name,
        'vpc-id': group.vpcId,
      };
      return lookAtTags(NO_TAGS, name) ?? [held[name]];
    },
    new Set(['group-id', 'group-name', 'vpc-id', 'tag-key']),
  );
  const groups = pick(region.groups, textsAt(params, 'GroupId'), (id) =>
    refusal('InvalidGroup.NotFound', `The security group '${id}' does not exist`),
  );
  return {
    securityGroupInfo: groups.filter(passes).map(({ id, name, vpcId }) => ({
      groupId: id,
      groupName: name,
      groupDescription: name,
      ownerId: world.account,
      vpcId,
      ipPermissions: [],
      ipPermissionsEgress: [],
      tagSet: [],
    })),
  };
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
