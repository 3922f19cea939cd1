// What a build leaves where it was killed: its resource group with all that is in it, the managed image that the gallery
// copies, and a version that is not finished.
import type { BuildMark } from '#core/image-builder.ts';
import { readMarkName } from '#packer/marks.ts';
import type { Arm } from '../arm/client.ts';
import { GALLERY_VERSION } from '../gallery/versions.ts';
import { COMPUTE_VERSION, type Resource } from '../vm/api.ts';
import { buildOf, isWhole, versionsOf } from './images.ts';
import { TAGS } from './source.ts';

const RESOURCES_VERSION = '2025-04-01';

interface Group extends Resource {
  readonly properties?: { readonly provisioningState?: string };
}

export interface LeftoverPlace {
  /** `/subscriptions/…/resourceGroups/velda`, of the gallery. */
  readonly group: string;
  /** The id of the image definition. */
  readonly image: string;
}

/** Removes what builds have left that are over; answers its names. Azure takes minutes for it, and goes on without a caller that waits. */
export async function cleanUp(
  arm: Arm,
  { group, image }: LeftoverPlace,
  isOver: (mark: BuildMark) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const isLeft = ({ name, tags }: Resource): boolean => {
    const mark = readMarkName(tags?.[TAGS.build] ?? '');
    return mark !== undefined && name === tags?.[TAGS.build] && isOver(mark);
  };
  const subscription = `/subscriptions/${arm.subscriptionId}`;
  const marked = { path: `${subscription}/resourcegroups`, apiVersion: RESOURCES_VERSION };
  const groups = (await arm.all<Group>({ ...marked, query: { $filter: `tagName eq '${TAGS.build}'` } }, signal)).filter(
    (one) => isLeft(one) && !/^Deleting$/i.test(one.properties?.provisioningState ?? ''),
  );
  for (const { name } of groups) await arm.ask({ ...marked, method: 'DELETE', path: `${marked.path}/${name}` }, signal);
  const versions = (await versionsOf(arm, image, signal)).filter((version) => {
    const mark = buildOf(version);
    const isEnding = /^Deleting$/i.test(version.properties?.provisioningState ?? '');
    return mark !== undefined && isOver(mark) && !isWhole(version) && !isEnding;
  });
  for (const { id } of versions) await arm.ask({ method: 'DELETE', path: id, apiVersion: GALLERY_VERSION }, signal);
  const listed = { path: `${group}/providers/Microsoft.Compute/images`, apiVersion: COMPUTE_VERSION };
  const images = (await arm.all<Resource>(listed, signal)).filter(isLeft);
  for (const { id } of images) await arm.ask({ method: 'DELETE', path: id, apiVersion: COMPUTE_VERSION }, signal);
  return [...groups, ...images].map(({ name }) => name).concat(versions.map(({ id }) => id));
}
