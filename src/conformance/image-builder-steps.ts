// What the laws of image builders do over and over: a recipe, a run with a folder of its own, a build.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BuildMark,
  type BuildRun,
  type BuiltImage,
  type ImageBuilder,
  type Recipe,
  type RecipeParts,
  recipeOf,
} from '#core/image-builder.ts';
import { going } from '#core/testing/going.ts';
import { demand } from './demand.ts';
import type { ImageBuilderWorld } from './image-builder-world.ts';

export const NAME = 'muster-agent';

/** A recipe for what that builder makes. */
export async function recipeFor(
  world: ImageBuilderWorld,
  builder: ImageBuilder,
  changed: Partial<RecipeParts> = {},
): Promise<Recipe> {
  const { form, base } = await world.during(builder.target(going()));
  const isContainer = form === 'container';
  return recipeOf({
    name: NAME,
    version: '1.2.0',
    base,
    files: [{ path: '/opt/muster/note', mode: 0o644, from: { text: 'as it was written' } }],
    steps: ['mkdir -p /var/lib/muster', 'echo made > /var/lib/muster/made'],
    ports: isContainer ? [8000] : [],
    entry: isContainer ? ['/opt/muster/muster-agent'] : [],
    ...changed,
  });
}

export const MARK: BuildMark = { id: 'build1', startedAt: 0 };

export interface BuildReport {
  readonly steps: string[];
  readonly lines: string[];
}

export const openBuildReport = (): BuildReport => ({ steps: [], lines: [] });

/** Builds as the command does: in a folder of its own, which holds the files of the recipe. */
export async function build(
  world: ImageBuilderWorld,
  builder: ImageBuilder,
  recipe: Recipe,
  {
    report = openBuildReport(),
    mark = MARK,
    signal = going(),
  }: { report?: BuildReport; mark?: BuildMark; signal?: AbortSignal } = {},
): Promise<BuiltImage> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-image-'));
  const run: BuildRun = {
    ...mark,
    folder,
    step: (title) => void report.steps.push(title),
    line: (text) => void report.lines.push(text),
  };
  try {
    for (const [name, text] of Object.entries(builder.files(recipe))) writeFileSync(join(folder, name), text);
    const image = await world.during(builder.build(recipe, run, signal));
    await world.settle();
    return image;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const find = (
  world: ImageBuilderWorld,
  builder: ImageBuilder,
  recipe: Recipe,
): Promise<BuiltImage | undefined> => world.during(builder.find(recipe, going()));

/** It is there, under its own name, and is what this recipe makes. */
export async function isThere(world: ImageBuilderWorld, builder: ImageBuilder, recipe: Recipe): Promise<BuiltImage> {
  const found = await find(world, builder, recipe);
  demand(found, `does not find the image of the recipe that it built, so it would build it again`);
  const image = found as BuiltImage;
  demand(image.recipe === recipe.hash, 'finds an image of another recipe');
  demand(
    image.name === recipe.name && image.version === recipe.version,
    'finds an image under another name or version',
  );
  demand(world.images().includes(image.reference), `refers to ${image.reference}, which does not exist`);
  return image;
}
