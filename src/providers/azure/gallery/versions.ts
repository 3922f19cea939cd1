// The versions of an image in a compute gallery. Azure's own words for the newest: the highest number that is not
// excluded, among those that its region has (learn.microsoft.com/azure/virtual-machines/azure-compute-gallery).
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { AGENT_IMAGE, buildFirst } from '#core/image-builder.ts';
import type { Arm } from '../arm/client.ts';
import { locationName } from '../vm/config.ts';

export const GALLERY_VERSION = '2025-12-03';
const HOLDS_MS = 5 * MINUTE_MS;
const NEWEST =
  /^(\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/Microsoft\.Compute\/galleries\/[^/]+\/images\/[^/]+)(?:\/versions\/latest)?$/i;
const NUMBER = /^\d+\.\d+\.\d+$/;

/** A version of an image, as far as it matters here. */
export interface ImageVersion {
  readonly id: string;
  /** `1.2.0`. */
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>> | null;
  readonly properties?: {
    readonly provisioningState?: string;
    readonly publishingProfile?: {
      readonly excludeFromLatest?: boolean;
      readonly publishedDate?: string;
      readonly targetRegions?: readonly { readonly name: string; readonly excludeFromLatest?: boolean }[] | null;
    };
  };
}

/** The image whose newest version is wanted, without `/versions/latest`; nothing where one version is named, or no gallery. */
export const newestWanted = (image: string): string | undefined => NEWEST.exec(image)?.[1];

/** Every version of an image. */
export function listVersions(arm: Arm, image: string, signal: AbortSignal): Promise<ImageVersion[]> {
  return arm.all<ImageVersion>({ path: `${image}/versions`, apiVersion: GALLERY_VERSION }, signal);
}

export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number)) as [number[], number[]];
  const at = left.findIndex((part, place) => part !== right[place]);
  return at < 0 ? 0 : (left[at] as number) - (right[at] as number);
}

function isOffered({ name, properties }: ImageVersion, location: string): boolean {
  const { provisioningState = 'Succeeded', publishingProfile = {} } = properties ?? {};
  const { excludeFromLatest, targetRegions } = publishingProfile;
  // One that gets more regions is `Updating`, and can be used meanwhile.
  if (!NUMBER.test(name) || excludeFromLatest || /^(Creating|Failed|Deleting)$/i.test(provisioningState)) return false;
  return targetRegions?.some((one) => locationName(one.name) === location && !one.excludeFromLatest) ?? true;
}

/** The version that Azure means by "latest" in that location. */
export function newestOf(versions: readonly ImageVersion[], location: string): ImageVersion | undefined {
  return versions
    .filter((one) => isOffered(one, location))
    .toSorted((a, b) => compareVersions(a.name, b.name))
    .at(-1);
}

/** The id of the newest version of an image, so that machines from an older one are known as outdated. */
export async function newestVersion(
  arm: Arm,
  { image, location }: { readonly image: string; readonly location: string },
  signal: AbortSignal,
): Promise<string> {
  return arm.keep(`newest of ${image.toLowerCase()} in ${location}`, HOLDS_MS, async () => {
    const [group = '', gallery = '', name] = [-7, -3, -1].map((at) => image.split('/').at(at));
    const build =
      name === AGENT_IMAGE ? buildFirst('azure-vm', { resource_group: group, gallery, location }) : undefined;
    const versions = await listVersions(arm, image, signal).catch((thrown) => {
      const { kind, message, cause, remedy } = Fault.from(thrown);
      throw new Fault(kind, message, { cause, remedy: kind === 'missing' && build ? build : remedy });
    });
    const newest = newestOf(versions, location);
    if (newest) return `${image}/versions/${newest.name}`;
    throw new Fault('missing', `The image ${name} of the gallery ${gallery} has no version in ${location}.`, {
      remedy: build ?? `Replicate a version to ${location} that is not excluded from latest, or correct image.`,
    });
  });
}
