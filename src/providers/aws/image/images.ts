// The AMIs that Muster has built: those of the account that bear the tags of a finished one.
import type { Filter, Image } from '@aws-sdk/client-ec2';
import { Fault } from '#core/fault.ts';
import type { BuiltImage } from '#core/image-builder.ts';
import type { OwnImage } from '#packer/builder.ts';
import { readImageTags, readMarkName } from '#packer/marks.ts';
import { inPages } from '#rest/retry.ts';
import type { Ec2Calls, Service } from '../client.ts';
import { TAGS } from './source.ts';

const tagsOf = ({ Tags = [] }: { readonly Tags?: Image['Tags'] }): Readonly<Record<string, string>> =>
  Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));

/** The mark of the build that a resource is of. */
export const markOf = (resource: { readonly Tags?: Image['Tags'] }) => readMarkName(tagsOf(resource)[TAGS.build] ?? '');

/** All AMIs of the account that fit, every page of them. */
export async function findAmis(
  { ask, clock }: Service<Ec2Calls>,
  filters: readonly Filter[],
  signal: AbortSignal,
): Promise<Image[]> {
  const all: Image[] = [];
  await inPages(clock, signal, async (token) => {
    const input = {
      Owners: ['self'],
      Filters: [...filters],
      MaxResults: 1_000,
      ...(token ? { NextToken: token } : {}),
    };
    const { Images, NextToken } = await ask('DescribeImages', input, { signal });
    if (!Images) throw new Fault('unavailable', 'EC2 answered a listing without a list of images.');
    all.push(...Images);
    return NextToken;
  });
  return all;
}

function ownImage(ami: Image, region: string): OwnImage[] {
  const { ImageId: id, Name: reference, CreationDate = '' } = ami;
  const said = readImageTags(TAGS, tagsOf(ami));
  if (!said || id === undefined || reference === undefined) return [];
  const image: BuiltImage = { ...said, ids: { [region]: id }, reference, builtAt: Date.parse(CreationDate) || 0 };
  return [{ image, build: markOf(ami)?.id }];
}

export async function listImages(
  ec2: Service<Ec2Calls>,
  hash: string | undefined,
  signal: AbortSignal,
): Promise<OwnImage[]> {
  const filters = [
    { Name: 'state', Values: ['available'] },
    { Name: `tag:${TAGS.recipe}`, Values: [hash ?? '*'] },
  ];
  return (await findAmis(ec2, filters, signal)).flatMap((ami) => ownImage(ami, ec2.region));
}

/** Its snapshots go along. */
export async function dropAmi({ ask }: Service<Ec2Calls>, id: string, signal: AbortSignal): Promise<void> {
  await ask('DeregisterImage', { ImageId: id, DeleteAssociatedSnapshots: true }, { signal }).catch((thrown) => {
    if (Fault.from(thrown).kind !== 'missing') throw thrown;
  });
}

export async function dropImage(ec2: Service<Ec2Calls>, { reference, ids }: BuiltImage, signal: AbortSignal) {
  const named = await findAmis(ec2, [{ Name: 'name', Values: [reference] }], signal);
  for (const ami of named.filter(({ ImageId = '' }) => Object.values(ids).includes(ImageId))) {
    if (ownImage(ami, ec2.region).length === 0)
      throw new Fault('denied', `${reference} is an image that Muster has not built.`);
    await dropAmi(ec2, ami.ImageId ?? '', signal);
  }
}
