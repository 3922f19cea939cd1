// Images of one Docker engine.
import { readFileSync } from 'node:fs';
import { Fault } from '#core/fault.ts';
import type { ImageBuilder } from '#core/image-builder.ts';
import type { Context } from '#core/provider.ts';
import { sentences } from '#core/sentences.ts';
import type { ImageDetails } from '../api.ts';
import { endpointOf } from '../endpoint.ts';
import { type Engine, openEngine } from '../engine.ts';
import { userLogin } from '../registry-login.ts';
import { buildImage, findImage } from './build.ts';
import { cleanBuilds, imagePath, labelled } from './clean.ts';
import type { DockerImageConfig } from './config.ts';
import { dockerfileOf } from './dockerfile.ts';
import { imagesIn, isOurs, LABEL } from './labels.ts';
import { pushImage } from './push.ts';

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

const OPEN_WITHIN_MS = 20_000;

export async function openDockerImages(config: DockerImageConfig, context: Context): Promise<ImageBuilder> {
  const variable = (name: string): string | undefined => context.variable?.(name);
  const files = { variable, readFile, programs: context.programs };
  const endpoint = endpointOf(config, files);
  let opening: Promise<Engine> | undefined;

  /** Asked for its version once, and again after a failure. */
  function engineOf(signal: AbortSignal): Promise<Engine> {
    opening ??= openEngine(endpoint, context, AbortSignal.any([signal])).catch((thrown) => {
      opening = undefined;
      throw thrown;
    });
    return opening;
  }

  async function needs(signal: AbortSignal): ReturnType<ImageBuilder['needs']> {
    const late = new AbortController();
    const stop = context.clock.alarm(OPEN_WITHIN_MS, () => late.abort());
    try {
      await engineOf(AbortSignal.any([signal, late.signal]));
      return [];
    } catch (thrown) {
      const { message, remedy } = Fault.from(thrown);
      const get = sentences(remedy, 'To install it, see https://docs.docker.com/engine/install/.');
      return [{ program: 'docker', why: sentences(message, 'A Docker engine builds the image.'), get }];
    } finally {
      stop();
    }
  }

  return {
    cloud: `docker:${endpoint.address}`,
    needs,
    async target(signal) {
      const { machine } = await engineOf(signal);
      return { form: 'container', base: config.base, machine };
    },
    files: (recipe) => ({ Dockerfile: dockerfileOf(recipe) }),
    find: async (recipe, signal) => findImage(await engineOf(signal), recipe, signal),
    async build(recipe, run, signal) {
      const engine = await engineOf(signal);
      const login = (image: string, ending: AbortSignal) => userLogin(image, files, ending);
      return buildImage({ engine, config, login }, recipe, run, signal);
    },
    async list(signal) {
      const images = (await labelled(await engineOf(signal), LABEL.recipe, signal)).flatMap(imagesIn);
      return images.toSorted((one, other) => other.builtAt - one.builtAt);
    },
    async drop({ reference }, signal) {
      const engine = await engineOf(signal);
      const found = await engine
        .ask<ImageDetails>({ path: imagePath(reference, '/json') }, signal)
        .catch((thrown): undefined => {
          if (Fault.from(thrown).kind !== 'missing') throw thrown;
        });
      if (!found) return;
      if (!isOurs(found.Config?.Labels)) throw new Fault('denied', `Muster did not build the image ${reference}.`);
      await engine.ask({ method: 'DELETE', path: imagePath(reference) }, signal).catch((thrown) => {
        if (Fault.from(thrown).kind !== 'missing') throw thrown;
      });
    },
    async push(image, to, { line }, signal) {
      const [engine, login] = [await engineOf(signal), await userLogin(to, files, signal)];
      return pushImage({ engine, login }, { image, to }, line, signal);
    },
    clean: async (isOver, signal) => cleanBuilds(await engineOf(signal), isOver, signal),
  };
}
