// One build by the classic builder of an engine, which every engine has and which needs no session beside the request.
import { Fault } from '#core/fault.ts';
import type { BuildRun, BuiltImage, Recipe } from '#core/image-builder.ts';
import type { BuildLine } from '../api.ts';
import type { Engine } from '../engine.ts';
import { type RegistryLogin, registryAuth, registryOf } from '../registry-login.ts';
import { cleanBuilds, imagePath, labelled } from './clean.ts';
import type { DockerImageConfig } from './config.ts';
import { BUILD_ARGUMENT, contextOf } from './dockerfile.ts';
import { imagesIn, isOurs, LABEL, referenceOf, tagsOf } from './labels.ts';
import { buildOutput } from './output.ts';

export interface BuildDeps {
  readonly engine: Engine;
  readonly config: DockerImageConfig;
  /** For the registry of the base. */
  login(image: string, signal: AbortSignal): Promise<RegistryLogin | undefined>;
}

/** The image of a recipe under its own name and version, if it is there. */
export async function findImage(engine: Engine, recipe: Recipe, signal: AbortSignal): Promise<BuiltImage | undefined> {
  const found = await labelled(engine, `${LABEL.recipe}=${recipe.hash}`, signal);
  return found.flatMap(imagesIn).find(({ reference }) => reference === referenceOf(recipe));
}

/** A name that is in use by an image of others stays theirs. */
async function mustBeFree(engine: Engine, recipe: Recipe, signal: AbortSignal): Promise<void> {
  const reference = referenceOf(recipe);
  const query = { filters: JSON.stringify({ reference: [reference] }) };
  const held = await engine.ask<readonly { readonly Labels?: Record<string, string> | null }[]>(
    { path: '/images/json', query },
    signal,
  );
  if (held.every(({ Labels }) => isOurs(Labels))) return;
  throw new Fault('denied', `Muster did not build the image that is named ${reference}.`, {
    remedy: `Give it another name (\`docker tag\`, \`docker rmi ${reference}\`), or build another --version.`,
  });
}

/** What had this name before is of no use to anybody once it has none, unless a container runs on it. */
async function dropReplaced(engine: Engine, { name, version }: Recipe, signal: AbortSignal): Promise<void> {
  const versions = await labelled(engine, `${LABEL.version}=${version}`, signal);
  const replaced = versions.filter((one) => tagsOf(one).length === 0 && one.Labels?.[LABEL.name] === name);
  for (const { Id, Labels } of replaced)
    if (!Labels?.[LABEL.build])
      await engine.ask({ method: 'DELETE', path: imagePath(Id) }, signal).catch(() => {
        // Somebody uses it, or removes it at this moment.
      });
}

const CLEAN_WITHIN_MS = 60_000;

export async function buildImage(
  { engine, config, login }: BuildDeps,
  recipe: Recipe,
  run: BuildRun,
  signal: AbortSignal,
): Promise<BuiltImage> {
  await mustBeFree(engine, recipe, signal);
  const auth = await login(recipe.base, signal);
  const output = buildOutput(recipe, run);
  const stream = {
    method: 'POST',
    path: '/build',
    query: {
      version: '1',
      t: referenceOf(recipe),
      rm: '1',
      forcerm: '1',
      buildargs: JSON.stringify({ [BUILD_ARGUMENT.build]: run.id, [BUILD_ARGUMENT.started]: String(run.startedAt) }),
      ...(config.network !== undefined && { networkmode: config.network }),
    },
    headers: { ...(auth && { 'x-registry-config': registryAuth({ [registryOf(recipe.base)]: auth }) }) },
    bytes: { type: 'application/x-tar', content: await contextOf(recipe) },
  } as const;
  const built = await (async () => {
    for await (const line of engine.lines<BuildLine>(stream, signal)) output.take(line);
    output.end();
    const found = await findImage(engine, recipe, signal);
    if (!found) throw new Fault('unavailable', `Docker at ${engine.address} ended the build without an image.`);
    return found;
  })().catch(async (thrown) => {
    await undo(engine, recipe, run);
    throw broken(thrown, signal);
  });
  await dropReplaced(engine, recipe, signal).catch(() => {
    // The image is there; what it replaced takes room until somebody prunes the engine.
  });
  return built;
}

/** Removes what this build made, the image too: its answer may have been lost after the last step. */
async function undo(engine: Engine, recipe: Recipe, { id }: BuildRun): Promise<void> {
  const ending = new AbortController();
  const stop = engine.clock.alarm(CLEAN_WITHIN_MS, () => ending.abort());
  try {
    await cleanBuilds(engine, (mark) => mark.id === id, ending.signal);
    const built = await findImage(engine, recipe, ending.signal);
    if (built) await engine.ask({ method: 'DELETE', path: imagePath(built.reference) }, ending.signal);
  } catch {
    // The engine is away: the next build removes what bears the mark of this one.
  } finally {
    stop();
  }
}

function broken(thrown: unknown, signal: AbortSignal): Fault {
  if (signal.aborted) return new Fault('unavailable', 'The build was given up.', { cause: thrown });
  if (thrown instanceof Fault) return thrown;
  return new Fault('unavailable', 'The connection to the engine broke during the build.', { cause: thrown });
}
