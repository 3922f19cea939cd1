import { Buffer } from 'node:buffer';
import { refusal } from '#fakes/refusal.ts';
import type { Image, InstanceType, Region, SecurityGroup, Subnet } from '../region.ts';
import { membersAt, numberAt, type Params, textAt, textsAt } from '../wire/params.ts';
import { firstInterface } from './merge-template.ts';

const USER_DATA_LIMIT = 16_384;
const LONGEST_TOKEN = 64;
const MOST_AT_ONCE = 1_000;

/** What a launch names, found; or refused in the words of AWS. */
export interface Found {
  readonly image: Image;
  readonly type: InstanceType;
  readonly subnet: Subnet;
  readonly groups: readonly SecurityGroup[];
  readonly least: number;
  readonly most: number;
}

export function checkUserData(text: string | undefined): void {
  if (text === undefined) return;
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text) || text.replace(/\s/g, '').length % 4 !== 0) {
    throw refusal('InvalidUserData.Malformed', 'Invalid BASE64 encoding of user data.');
  }
  if (Buffer.from(text, 'base64').length > USER_DATA_LIMIT) {
    throw refusal('InvalidParameterValue', `User data is limited to ${USER_DATA_LIMIT} bytes`);
  }
}

function readCounts(params: Params): { least: number; most: number } {
  const [least, most] = [numberAt(params, 'MinCount'), numberAt(params, 'MaxCount')];
  for (const [name, count] of Object.entries({ MinCount: least, MaxCount: most })) {
    if (count === undefined) throw refusal('MissingParameter', `The request must contain the parameter ${name}`);
    if (!Number.isInteger(count) || count < 1) {
      throw refusal('InvalidParameterValue', `Value (${count}) for parameter ${name} is invalid.`);
    }
  }
  if ((least as number) > (most as number)) {
    throw refusal('InvalidParameterCombination', 'The parameter MaxCount must be greater than or equal to MinCount.');
  }
  if ((most as number) > MOST_AT_ONCE) {
    throw refusal('InstanceLimitExceeded', `You have requested more instances (${most}) than one call may launch.`);
  }
  return { least: least as number, most: most as number };
}

function findImage({ images }: Region, id: string | undefined): Image {
  if (id === undefined) throw refusal('MissingParameter', 'The request must contain the parameter ImageId');
  if (!id.startsWith('ami-')) throw refusal('InvalidAMIID.Malformed', `Invalid id: "${id}" (expecting "ami-...")`);
  const image = images.get(id);
  if (!image) throw refusal('InvalidAMIID.NotFound', `The image id '[${id}]' does not exist`);
  return image;
}

function findType({ types }: Region, name: string): InstanceType {
  const type = types.get(name);
  if (!type) throw refusal('InvalidParameterValue', `Invalid value '${name}' for InstanceType.`);
  return type;
}

/** Without a subnet the launch goes to the wanted zone, or to one where the type is offered. */
function findSubnet(region: Region, params: Params, type: InstanceType): Subnet {
  const id = textAt(firstInterface(params), 'SubnetId') ?? textAt(params, 'SubnetId');
  const zone = textAt(params, 'Placement.AvailabilityZone');
  const offered = region.offerings.get(type.name) ?? [];
  const wanted = [...region.subnets.values()].filter((subnet) => {
    if (id !== undefined) return subnet.id === id;
    return zone === undefined ? offered.includes(subnet.zone) : subnet.zone === zone;
  });
  const subnet = wanted[0];
  if (!subnet) {
    if (id !== undefined) throw refusal('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
    if (zone !== undefined) {
      throw refusal('InvalidParameterValue', `Invalid availability zone: [${zone}]`);
    }
    throw refusal('VPCIdNotSpecified', 'No default VPC for this user');
  }
  if (id !== undefined && zone !== undefined && subnet.zone !== zone) {
    throw refusal(
      'InvalidParameterValue',
      `The availability zone '${zone}' does not match the zone of subnet '${id}' (${subnet.zone}).`,
    );
  }
  return subnet;
}

function checkOffered({ offerings }: Region, type: InstanceType, zone: string): void {
  const zones = offerings.get(type.name) ?? [];
  if (zones.includes(zone)) return;
  throw refusal(
    'Unsupported',
    `Your requested instance type (${type.name}) is not supported in your requested Availability Zone (${zone}). Please retry your request by not specifying an Availability Zone or choosing ${zones.join(', ')}.`,
  );
}

function groupNamed({ groups }: Region, name: string, vpcId: string): SecurityGroup {
  const found = groups.values().find((group) => group.name === name && group.vpcId === vpcId);
  if (found) return found;
  throw refusal('InvalidGroup.NotFound', `The security group '${name}' does not exist in default VPC '${vpcId}'`);
}

/** Those of the call; without any, the default one of the VPC. Names are looked up in the default VPC alone. */
function findGroups(region: Region, params: Params, { vpcId }: Subnet): SecurityGroup[] {
  const ids = [...textsAt(firstInterface(params), 'SecurityGroupId'), ...textsAt(params, 'SecurityGroupId')];
  const names = textsAt(params, 'SecurityGroup');
  if (names.length > 0 && textAt(params, 'SubnetId') !== undefined)
    throw refusal('InvalidParameterCombination', 'The parameter groupName cannot be used with the parameter subnet');
  const byId = ids.map((id) => {
    const group = region.groups.get(id);
    if (!group) throw refusal('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
    return group;
  });
  const found = [...byId, ...names.map((name) => groupNamed(region, name, vpcId))];
  return found.length > 0 ? found : [groupNamed(region, 'default', vpcId)];
}

function checkFit(image: Image, type: InstanceType): void {
  if (image.architecture === type.architecture) return;
  throw refusal(
    'InvalidParameterValue',
    `The architecture '${type.architecture}' of the specified instance type does not match the architecture '${image.architecture}' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.`,
  );
}

function checkKeyPair({ keyPairs }: Region, name: string | undefined): void {
  if (name !== undefined && !keyPairs.has(name))
    throw refusal('InvalidKeyPair.NotFound', `The key pair '${name}' does not exist`);
}

function checkProfile({ profiles }: Region, params: Params): void {
  const [name, arn] = [textAt(params, 'IamInstanceProfile.Name'), textAt(params, 'IamInstanceProfile.Arn')];
  const named = name ?? arn?.split('/').at(-1);
  if (named === undefined || profiles.has(named)) return;
  const [field, what] = name === undefined ? ['arn', 'ARN'] : ['name', 'name'];
  throw refusal(
    'InvalidParameterValue',
    `Value (${name ?? arn}) for parameter iamInstanceProfile.${field} is invalid. Invalid IAM Instance Profile ${what}`,
  );
}

/** Snapshots that disks are made from: the fake has none. */
function checkDisks(params: Params): void {
  for (const disk of membersAt(params, 'BlockDeviceMapping')) {
    const snapshot = textAt(disk, 'Ebs.SnapshotId');
    if (snapshot) throw refusal('InvalidSnapshot.NotFound', `The snapshot '${snapshot}' does not exist.`);
  }
}

export function findAll(region: Region, params: Params): Found {
  const counts = readCounts(params);
  if ((textAt(params, 'ClientToken') ?? '').length > LONGEST_TOKEN) {
    throw refusal('InvalidParameterValue', `Client token must be at most ${LONGEST_TOKEN} characters.`);
  }
  const image = findImage(region, textAt(params, 'ImageId'));
  const type = findType(region, textAt(params, 'InstanceType') ?? 'm1.small');
  checkFit(image, type);
  const subnet = findSubnet(region, params, type);
  checkOffered(region, type, subnet.zone);
  const groups = findGroups(region, params, subnet);
  checkKeyPair(region, textAt(params, 'KeyName'));
  checkProfile(region, params);
  checkDisks(params);
  checkUserData(textAt(params, 'UserData'));
  return { image, type, subnet, groups, ...counts };
}
