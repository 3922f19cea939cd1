// An image builder that lets Packer do the work, whichever cloud it is for.
import { join } from 'node:path';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { BuildMark, BuiltImage, ImageBuilder, ImageTarget, Recipe } from '#core/image-builder.ts';
import type { Context } from '#core/provider.ts';
import { packerNeeds } from './needs.ts';
import { runPacker } from './run.ts';
import { type PackerSource, packerFiles } from './template.ts';

/** An image of ours with the name of the build that made it. */
export interface OwnImage {
  readonly image: BuiltImage;
  readonly build: string | undefined;
}

/** What differs from cloud to cloud. */
export interface PackerPlace extends Pick<ImageBuilder, 'cloud' | 'account' | 'drop'> {
  readonly target: ImageTarget;
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  source(recipe: Recipe): PackerSource;
  /** Makes what Packer itself cannot mark; answers the variables of the template. */
  prepare(recipe: Recipe, mark: BuildMark, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** The images of ours there; with a hash, those of that recipe. */
  images(hash: string | undefined, signal: AbortSignal): Promise<readonly OwnImage[]>;
  /** Removes what is no image and belongs to builds that are over; answers the names. */
  clean(isOver: (mark: BuildMark) => boolean, signal: AbortSignal): Promise<readonly string[]>;
}

// What Packer has made may be listed late.
const LISTED_WITHIN_MS = 2 * MINUTE_MS;
const LOOK_EVERY_MS = 5 * SECOND_MS;
const CLEAN_WITHIN_MS = 5 * MINUTE_MS;

const byAge = (a: OwnImage, b: OwnImage): number => b.image.builtAt - a.image.builtAt;

export function packerBuilder(place: PackerPlace, { clock, dataDir, log, programs }: Context): ImageBuilder {
  const newest = async (hash: string | undefined, signal: AbortSignal): Promise<OwnImage[]> =>
    [...(await place.images(hash, signal))].sort(byAge);

  async function find(recipe: Recipe, signal: AbortSignal): Promise<BuiltImage | undefined> {
    return (await newest(recipe.hash, signal))[0]?.image;
  }

  async function listed(recipe: Recipe, signal: AbortSignal): Promise<BuiltImage> {
    const untilMs = clock.monotonic() + LISTED_WITHIN_MS;
    for (;;) {
      const image = await find(recipe, signal);
      if (image) return image;
      if (signal.aborted || clock.monotonic() >= untilMs)
        throw new Fault('unavailable', `Packer says that the image is made, and ${place.cloud} does not list it.`);
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  /** Afterwards, also where the caller has given up: whatever the build has left goes, and after a failure its image. */
  async function tidy({ id, hash, failed }: { id: string; hash: string; failed: boolean }): Promise<void> {
    const within = new AbortController();
    const cancel = clock.alarm(CLEAN_WITHIN_MS, () => within.abort());
    const { signal } = within;
    try {
      await place.clean((mark) => mark.id === id, signal);
      if (!failed) return;
      for (const { image, build } of await place.images(hash, signal))
        if (build === id) await place.drop(image, signal);
    } catch (thrown) {
      const { message, remedy } = Fault.from(thrown);
      log('warn', 'a build left something behind; the next one removes it', { build: id, error: message, remedy });
    } finally {
      cancel();
    }
  }

  return {
    cloud: place.cloud,
    account: place.account,
    needs: async () => packerNeeds(programs),
    target: async () => place.target,
    files: (recipe) => packerFiles(recipe, place.source(recipe)),
    find,
    list: async (signal) => (await newest(undefined, signal)).map(({ image }) => image),
    async build(recipe, run, signal) {
      if (!programs) throw new Fault('unsupported', 'No program may be run here.');
      const { id, startedAt } = run;
      const { env, secrets } = place;
      let failed = true;
      try {
        const variables = await place.prepare(recipe, { id, startedAt }, signal);
        const call = { programs, pluginFolder: join(dataDir, 'packer-plugins'), variables, env, secrets };
        await runPacker(recipe, run, call, signal);
        const image = await listed(recipe, signal);
        failed = false;
        return image;
      } finally {
        await tidy({ id, hash: recipe.hash, failed });
      }
    },
    drop: place.drop,
    clean: place.clean,
  };
}
