import { refusal } from '#fakes/refusal.ts';
import type { Image } from '../region.ts';
import { membersAt, textsAt } from '../wire/params.ts';
import type { Xml } from '../wire/xml.ts';
import type { Ask } from '../world.ts';
import { ec2Page, readPageSize } from './describe-instances.ts';
import { filterOf, lookAtTags } from './filters.ts';
import { tagSet } from './tags.ts';

const FILTERS = new Set([
  ...['name', 'image-id', 'state', 'architecture', 'owner-id', 'owner-alias', 'is-public'],
  ...['source-instance-id', 'tag-key'],
]);

const NO_TAGS: ReadonlyMap<string, string> = new Map();
const stateOf = ({ availableAtMs = 0 }: Image, nowMs: number): string =>
  nowMs < availableAtMs ? 'pending' : 'available';

function look(image: Image, name: string, nowMs: number): readonly (string | undefined)[] | undefined {
  const held: Readonly<Record<string, string | undefined>> = {
    name: image.name,
    'image-id': image.id,
    state: stateOf(image, nowMs),
    architecture: image.architecture,
    'source-instance-id': image.made?.instanceId,
    'owner-id': image.owner,
    'owner-alias': image.ownerAlias,
    'is-public': 'true',
  };
  return lookAtTags(image.tags ?? NO_TAGS, name) ?? [held[name]];
}

function isOwnedBy(image: Image, owners: readonly string[], account: string): boolean {
  if (owners.length === 0) return true;
  return owners.some((owner) => image.owner === (owner === 'self' ? account : owner) || image.ownerAlias === owner);
}

function imageXml(image: Image, account: string, nowMs: number): Xml {
  return {
    imageId: image.id,
    name: image.name,
    imageLocation: `${image.ownerAlias ?? image.owner}/${image.name}`,
    imageState: stateOf(image, nowMs),
    imageOwnerId: image.owner,
    imageOwnerAlias: image.ownerAlias,
    isPublic: image.owner !== account,
    creationDate: new Date(image.createdAtMs).toISOString(),
    architecture: image.architecture,
    imageType: 'machine',
    rootDeviceType: 'ebs',
    rootDeviceName: '/dev/xvda',
    virtualizationType: 'hvm',
    hypervisor: 'xen',
    sourceInstanceId: image.made?.instanceId,
    blockDeviceMapping: image.made ? [{ deviceName: '/dev/sda1', ebs: { snapshotId: image.made.snapshotId } }] : [],
    tagSet: tagSet(image.tags ?? NO_TAGS),
  };
}

export function describeImages(ask: Ask): Readonly<Record<string, Xml>> {
  const { region, params, world, nowMs } = ask;
  const ids = textsAt(params, 'ImageId');
  const missing = ids.find((id) => !region.images.has(id));
  if (missing !== undefined) {
    throw refusal('InvalidAMIID.NotFound', `The image id '[${missing}]' does not exist`);
  }
  const passes = filterOf<Image>(params, (image, name) => look(image, name, nowMs), FILTERS);
  const owners = membersAt(params, 'Owner').map(({ text }) => text ?? '');
  const images = [...region.images.values()]
    .filter((image) => (ids.length === 0 || ids.includes(image.id)) && isOwnedBy(image, owners, world.account))
    .filter(passes)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const size = readPageSize(ask, { least: 1, most: 1_000 });
  const { items, token } = ec2Page(ask, images, { size, keyOf: ({ id }) => id });
  return { imagesSet: items.map((image) => imageXml(image, world.account, nowMs)), nextToken: token };
}
