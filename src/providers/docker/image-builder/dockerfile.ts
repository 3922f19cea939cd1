// The Dockerfile of a recipe, and the context that it is built in.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { END, header, padding } from '#boot/tar.ts';
import { Fault } from '#core/fault.ts';
import type { Recipe, RecipeFile } from '#core/image-builder.ts';
import { LABEL } from './labels.ts';

/** Arguments that the engine gets with a build, so that the file itself holds nothing of one build. */
export const BUILD_ARGUMENT = { build: 'MUSTER_BUILD', started: 'MUSTER_STARTED' } as const;

const words = (list: readonly string[]): string => JSON.stringify(list);

/** A dollar would begin a variable of the Dockerfile. */
const labelText = (text: string): string => JSON.stringify(text).replaceAll('$', '\\$');

const nameOf = (at: number): string => `file${at}`;

function copyLine({ path, from }: RecipeFile, at: number): string {
  if (!('archive' in from)) return `COPY ${words([nameOf(at), path])}`;
  // ADD unpacks an archive of the context into a folder.
  return `ADD ${words([nameOf(at), `${path.replace(/\/*$/, '')}/`])}`;
}

/**
 * Labels come first: every layer and every container of the build then bears them, so that what a failed build leaves is
 * found. `RUN` takes each step as it stands, in the words of `sh`.
 */
export function dockerfileOf(recipe: Recipe): string {
  const { base, hash: recipeHash, name, version, files, steps, ports, entry } = recipe;
  const labels = { [LABEL.recipe]: recipeHash, [LABEL.name]: name, [LABEL.version]: version };
  const set = Object.entries(labels).map(([key, value]) => `${key}=${labelText(value)}`);
  return [
    `# ${name} ${version}. Muster writes this file anew for each build.`,
    `FROM ${base}`,
    ...Object.values(BUILD_ARGUMENT).map((argument) => `ARG ${argument}=0`),
    `LABEL ${set.join(' ')} ${LABEL.build}=$${BUILD_ARGUMENT.build} ${LABEL.started}=$${BUILD_ARGUMENT.started}`,
    ...files.map(copyLine),
    ...steps.map((step) => `RUN ${words(['/bin/sh', '-euc', step])}`),
    ...(ports.length > 0 ? [`EXPOSE ${ports.join(' ')}`] : []),
    ...(entry.length > 0 ? [`ENTRYPOINT ${words(entry)}`] : []),
    // A finished image, and every container of it, belongs to no build.
    `LABEL ${LABEL.build}=""`,
    '',
  ].join('\n');
}

async function contentOf({ from, path }: RecipeFile): Promise<Buffer> {
  if ('text' in from) return Buffer.from(from.text);
  const place = 'archive' in from ? from.archive : from.file;
  const content = await readFile(place);
  if (hash('sha256', content) === from.sha256) return content;
  throw new Fault('conflict', `${place}, which becomes ${path}, has changed since the recipe was written.`, {
    remedy: 'Start the build again.',
  });
}

/** What the engine gets: a tar archive of the Dockerfile and of the files that it copies. */
export async function contextOf(recipe: Recipe): Promise<Uint8Array<ArrayBuffer>> {
  const held = await Promise.all(
    recipe.files.map(async (file, at) => ({ name: nameOf(at), mode: file.mode, content: await contentOf(file) })),
  );
  const dockerfile = { name: 'Dockerfile', mode: 0o644, content: Buffer.from(dockerfileOf(recipe)) };
  const parts = [dockerfile, ...held].flatMap(({ name, mode, content }) => [
    header({ name, mode, bytes: content.length }),
    content,
    padding(content.length),
  ]);
  return new Uint8Array(Buffer.concat([...parts, END]));
}
