// The image of a container that a cloud runs: it pulls from a registry, where only the user can have put it.
import { Fault } from '#core/fault.ts';
import { imageOf } from './local.ts';
import type { PlatformContext } from './platform.ts';

export interface ImageOptions {
  readonly image?: string | undefined;
  readonly version?: string | undefined;
}

/** Whether the name says which of its images is meant: by a tag or a digest. */
const isExact = (image: string): boolean => /[:@]/.test(image.slice(image.lastIndexOf('/') + 1));

/** The image that was given, in the version that was given; a `Fault` where there is none. */
export function registryImage(
  platform: string,
  { image, version }: ImageOptions,
  { agentImage }: Pick<PlatformContext, 'agentImage'>,
): string {
  if (image !== undefined) return version === undefined || isExact(image) ? image : `${image}:${version}`;
  const built = imageOf({ version }, agentImage);
  throw new Fault('invalid', `The platform ${platform} needs image: it cannot pull ${built} from this machine.`, {
    at: 'options.image',
    remedy: 'Push it by `muster image build docker --push HOST/NAME`, and give that name as image.',
  });
}
