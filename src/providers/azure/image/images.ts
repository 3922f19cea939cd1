// The versions of an image in a gallery that Muster has built: those that bear the tags of a finished one.
import { Fault } from '#core/fault.ts';
import type { BuiltImage } from '#core/image-builder.ts';
import type { OwnImage } from '#packer/builder.ts';
import { readImageTags, readMarkName } from '#packer/marks.ts';
import type { Arm } from '../arm/client.ts';
import { GALLERY_VERSION, type ImageVersion, listVersions } from '../gallery/versions.ts';
import { TAGS } from './source.ts';

/** One that gets more locations is `Updating`, and can be used meanwhile. */
export const isWhole = ({ properties }: ImageVersion): boolean =>
  /^(Succeeded|Updating)$/i.test(properties?.provisioningState ?? '');

export const buildOf = ({ tags }: Pick<ImageVersion, 'tags'>) => readMarkName(tags?.[TAGS.build] ?? '');

function ownImage(version: ImageVersion): OwnImage[] {
  const said = readImageTags(TAGS, version.tags ?? {});
  if (!said) return [];
  const builtAt = Date.parse(version.properties?.publishingProfile?.publishedDate ?? '') || 0;
  return [{ image: { ...said, ids: { '': version.id }, reference: version.id, builtAt }, build: buildOf(version)?.id }];
}

/** All versions, finished or not; the image definition must be there before anything is built. */
export async function versionsOf(arm: Arm, image: string, signal: AbortSignal): Promise<ImageVersion[]> {
  return listVersions(arm, image, signal).catch((thrown) => {
    const { kind, message, cause, remedy } = Fault.from(thrown);
    const [, group, gallery, name] =
      /\/resourceGroups\/([^/]+)\/.*\/galleries\/([^/]+)\/images\/([^/]+)$/i.exec(image) ?? [];
    const made = `az sig create --resource-group ${group} --gallery-name ${gallery}`;
    const definition = `az sig image-definition create --resource-group ${group} --gallery-name ${gallery} --gallery-image-definition ${name} --publisher muster --offer agent --sku ${name} --os-type Linux --hyper-v-generation V2`;
    throw new Fault(kind, message, {
      cause,
      remedy:
        kind === 'missing'
          ? `Create the gallery, where it is missing too, and the image in it: \`${made}\`, then \`${definition}\`.`
          : remedy,
    });
  });
}

export async function listImages(
  arm: Arm,
  { image, hash }: { readonly image: string; readonly hash: string | undefined },
  signal: AbortSignal,
): Promise<OwnImage[]> {
  const own = (await versionsOf(arm, image, signal)).filter(isWhole).flatMap(ownImage);
  return own.filter(({ image: { recipe } }) => hash === undefined || recipe === hash);
}

export async function dropImage(arm: Arm, { reference }: BuiltImage, signal: AbortSignal): Promise<void> {
  const request = { path: reference, apiVersion: GALLERY_VERSION };
  const version = await arm.ask<ImageVersion>(request, signal).catch((thrown) => {
    if (Fault.from(thrown).kind === 'missing') return undefined;
    throw thrown;
  });
  if (!version) return;
  if (ownImage(version).length === 0) throw new Fault('denied', `${reference} is a version that Muster has not built.`);
  await arm.ask({ ...request, method: 'DELETE' }, signal);
}
