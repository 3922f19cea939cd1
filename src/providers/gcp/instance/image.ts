import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { lastPart } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';

interface ImageResource {
  readonly name: string;
  readonly selfLink?: string;
}

/** As Compute Engine writes it: `projects/debian-cloud/global/images/family/debian-12`. */
export function imagePath(image: string, project: string): string {
  if (image.startsWith('projects/')) return image;
  const [first = '', second] = image.split('/');
  if (second === undefined) return `projects/${project}/global/images/${first}`;
  return `projects/${first}/global/images/family/${second}`;
}

const HOLDS_MS = 5 * MINUTE_MS;
const FAMILY = /^projects\/([^/]+)(\/global\/images\/family\/[^/]+)$/;

/** The image itself: of a family the newest, so that machines from an older one are known as outdated. */
export async function imageOf(compute: Compute, image: string, signal: AbortSignal): Promise<string> {
  const path = imagePath(image, compute.project);
  const [, project, below] = FAMILY.exec(path) ?? [];
  if (project === undefined || below === undefined) return path;
  return compute.keep(`image ${path}`, HOLDS_MS, async () => {
    const { name } = await compute.ask<ImageResource>({ project, path: below }, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'missing') throw fault;
      throw new Fault('missing', `There is no image family ${lastPart(below)} in the project ${project}.`, {
        cause: fault,
        remedy: `Correct image: gcloud compute images list --project=${project} --format='value(family)'.`,
      });
    });
    return `projects/${project}/global/images/${name}`;
  });
}
