// The images that Muster has built in a project: those that bear the labels of a finished one.
import { MINUTE_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { BuiltImage } from '#core/image-builder.ts';
import type { OwnImage } from '#packer/builder.ts';
import { readImageTags, readMarkName } from '#packer/marks.ts';
import { lastPart, type Operation } from '../compute/api.ts';
import type { Compute } from '../compute/client.ts';
import { followed } from '../compute/operation.ts';
import { LABELS, readDescription } from './source.ts';

interface Image {
  readonly id?: string;
  readonly name: string;
  readonly description?: string;
  readonly status?: string;
  readonly creationTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const WITHIN_MS = 2 * MINUTE_MS;

function ownImage(image: Image, project: string): OwnImage[] {
  const { id = '', name, description, labels = {}, creationTimestamp = '' } = image;
  const said = readImageTags(LABELS, { ...labels, [LABELS.version]: readDescription(description) });
  if (!said) return [];
  const reference = `projects/${project}/global/images/${name}`;
  const built: BuiltImage = { ...said, ids: { '': id }, reference, builtAt: Date.parse(creationTimestamp) || 0 };
  return [{ image: built, build: readMarkName(labels[LABELS.build] ?? '')?.id }];
}

export async function listImages(compute: Compute, hash: string | undefined, signal: AbortSignal): Promise<OwnImage[]> {
  const items = ({ items: found = [] }: { readonly items?: readonly Image[] }) => found;
  const filter = `labels.${LABELS.recipe}${hash === undefined ? ':*' : `=${hash}`}`;
  const found = await compute.all({ path: '/global/images', query: { filter, maxResults: 500 }, items }, signal);
  return found.filter(({ status = 'READY' }) => status === 'READY').flatMap((one) => ownImage(one, compute.project));
}

const ifThere = async <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((thrown) => {
    if (Fault.from(thrown).kind === 'missing') return undefined;
    throw thrown;
  });

export async function dropImage(compute: Compute, { reference, ids }: BuiltImage, signal: AbortSignal): Promise<void> {
  const path = `/global/images/${lastPart(reference)}`;
  const image = await ifThere(compute.ask<Image>({ path }, signal));
  if (!image || !Object.values(ids).includes(image.id ?? '')) return;
  if (ownImage(image, compute.project).length === 0)
    throw new Fault('denied', `${reference} is an image that Muster has not built.`);
  const operation = await ifThere(compute.ask<Operation>({ method: 'DELETE', path }, signal));
  if (!operation) return;
  await followed(compute, operation, { place: 'global', what: `delete of ${reference}`, withinMs: WITHIN_MS }, signal);
}
