import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { AGENT_IMAGE, buildFirst } from '#core/image-builder.ts';
import type { Compute } from '../compute/client.ts';

interface ImageResource {
  readonly name: string;
  readonly selfLink?: string;
  readonly architecture?: string;
  readonly creationTimestamp?: string;
  readonly deprecated?: { readonly state?: string };
}

/** As Compute Engine writes it: `projects/debian-cloud/global/images/family/debian-12`. */
export function imagePath(image: string, project: string): string {
  if (image.startsWith('projects/')) return image;
  const [first = '', second] = image.split('/');
  if (second === undefined) return `projects/${project}/global/images/${first}`;
  return `projects/${first}/global/images/family/${second}`;
}

const HOLDS_MS = 5 * MINUTE_MS;
const TYPE_HOLDS_MS = 24 * HOUR_MS;
const FAMILY = /^projects\/([^/]+)(\/global\/images)\/family\/([^/]+)$/;

/** For what an image is wanted. */
export interface ImageUse {
  readonly image: string;
  readonly zone: string;
  readonly machineType: string;
}

interface Family {
  readonly project: string;
  readonly below: string;
  readonly family: string;
}

/** `X86_64` or `ARM64`, as images have it too; nothing where Compute Engine does not say. */
function architectureOf(compute: Compute, { zone, machineType }: ImageUse, signal: AbortSignal) {
  const path = `/zones/${zone}/machineTypes/${machineType}`;
  return compute.keep(`architecture ${path}`, TYPE_HOLDS_MS, async () => {
    const asked = compute.ask<{ readonly architecture?: string }>({ path }, signal);
    return asked.then(
      ({ architecture }) => architecture,
      (thrown) => {
        const fault = Fault.from(thrown);
        // That there is no such type is told by the launch, with the nearest one.
        if (fault.kind === 'missing' || fault.kind === 'denied' || fault.kind === 'invalid') return undefined;
        throw fault;
      },
    );
  });
}

async function newestOf(
  compute: Compute,
  { project, below, family }: Family,
  signal: AbortSignal,
): Promise<ImageResource | undefined> {
  return compute.ask<ImageResource>({ project, path: `${below}/family/${family}` }, signal).catch((thrown) => {
    const fault = Fault.from(thrown);
    if (fault.kind === 'missing') return undefined;
    throw fault;
  });
}

/** The newest of a family with that architecture: one family may have images of both. */
async function newestFitting(
  compute: Compute,
  { project, below, family }: Family,
  architecture: string,
  signal: AbortSignal,
): Promise<ImageResource | undefined> {
  const items = ({ items: found = [] }: { readonly items?: readonly ImageResource[] }) => found;
  const listing = { project, path: below, query: { filter: `family=${family}`, maxResults: 500 }, items };
  const images = (await compute.all(listing, signal)).filter(
    (image) => image.architecture === architecture && image.deprecated?.state === undefined,
  );
  const age = ({ creationTimestamp = '' }: ImageResource): number => Date.parse(creationTimestamp) || 0;
  return images.toSorted((a, b) => age(a) - age(b)).at(-1);
}

/** As public families name their architecture: `debian-12-arm64`, `ubuntu-2404-lts-amd64`. */
function siblingOf(family: string, architecture: string): string {
  const stem = family.replace(/-(?:amd64|arm64)$/, '');
  if (architecture === 'ARM64') return `${stem}-arm64`;
  return family.endsWith('-arm64') ? stem : `${stem}-amd64`;
}

async function imageIn(compute: Compute, family: Family, use: ImageUse, signal: AbortSignal): Promise<string> {
  const fits = await architectureOf(compute, use, signal);
  const isFit = (image: ImageResource | undefined): boolean =>
    image !== undefined && (fits === undefined || (image.architecture ?? fits) === fits);
  const newest = await newestOf(compute, family, signal);
  if (!newest) {
    const { project, family: name } = family;
    throw new Fault('missing', `There is no image family ${name} in the project ${project}.`, {
      remedy:
        name === AGENT_IMAGE
          ? buildFirst('gcp-vm', { project })
          : `Correct image: gcloud compute images list --project=${project} --format='value(family)'.`,
    });
  }
  if (isFit(newest) || fits === undefined) return newest.name;
  const other =
    (await newestFitting(compute, family, fits, signal)) ??
    (await newestOf(compute, { ...family, family: siblingOf(family.family, fits) }, signal));
  if (other && isFit(other)) return other.name;
  const what = `The image family ${family.family} of the project ${family.project}`;
  throw new Fault('invalid', `${what} has no image of the architecture ${fits}, which ${use.machineType} needs.`, {
    remedy: `Set image to one of that architecture: gcloud compute images list --filter=architecture=${fits}.`,
  });
}

/**
 * The image itself: of a family the newest that fits the machine type, so that machines from an older one are known as
 * outdated.
 */
export async function imageOf(compute: Compute, use: ImageUse, signal: AbortSignal): Promise<string> {
  const path = imagePath(use.image, compute.project);
  const [, project, below, family] = FAMILY.exec(path) ?? [];
  if (project === undefined || below === undefined || family === undefined) return path;
  return compute.keep(`image ${path} for ${use.zone} ${use.machineType}`, HOLDS_MS, async () => {
    const name = await imageIn(compute, { project, below, family }, use, signal);
    return `projects/${project}/global/images/${name}`;
  });
}
