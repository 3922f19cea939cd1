// How images of ours are recognised, and what a build leaves: by labels, which every layer and every container of a build bears.
import type { BuildMark, BuiltImage } from '#core/image-builder.ts';
import type { ImageSummary } from '../api.ts';

export const LABEL = {
  recipe: 'muster.recipe',
  name: 'muster.name',
  version: 'muster.version',
  build: 'muster.build',
  started: 'muster.started',
} as const;

type Labels = Readonly<Record<string, string>> | null | undefined;

export const isOurs = (labels: Labels): boolean => Boolean(labels?.[LABEL.recipe]);

/** Of the build that a layer or container belongs to; nothing where it is of none of ours. */
export function buildMarkIn(labels: Labels): BuildMark | undefined {
  const [id, startedAt] = [labels?.[LABEL.build], Number(labels?.[LABEL.started])];
  return id && !Number.isNaN(startedAt) ? { id, startedAt } : undefined;
}

export const referenceOf = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${name}:${version}`;

const NAMELESS = '<none>:<none>';

export const tagsOf = ({ RepoTags }: ImageSummary): readonly string[] =>
  (RepoTags ?? []).filter((tag) => tag !== NAMELESS);

/** An image of ours, once for each name that it has. */
export function imagesIn(summary: ImageSummary): readonly BuiltImage[] {
  const { Labels, Id, Created } = summary;
  const [recipe, name, version] = [Labels?.[LABEL.recipe], Labels?.[LABEL.name], Labels?.[LABEL.version]];
  if (!recipe || !name || !version) return [];
  const started = buildMarkIn(Labels)?.startedAt ?? 0;
  // The engine knows whole seconds; of two images of one second the build that began later is the newer one.
  const builtAt = Math.max(Created * 1_000, started);
  return tagsOf(summary).map((reference) => ({ name, version, recipe, ids: { '': Id }, reference, builtAt }));
}
