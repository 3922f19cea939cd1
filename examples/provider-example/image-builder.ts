import { readFileSync } from 'node:fs';
import { SECOND_MS } from 'muster/src/core/clock.ts';
import { Fault } from 'muster/src/core/fault.ts';
import {
  type BuildMark,
  type BuildRun,
  type BuiltImage,
  type ImageBuilder,
  type Recipe,
  stepFailed,
} from 'muster/src/core/image-builder.ts';
import type { Context } from 'muster/src/core/provider.ts';
import type { ImageConfig } from './config.ts';
import { depotAt, everyPage } from './depot-api.ts';

/** An image as the depot shows it. */
interface Kept {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly madeAtMs: number;
}

/** Work in progress, under the name of its build. */
interface Work {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'working' | 'done' | 'failed';
  /** The output from the line on that was asked for. */
  readonly lines: readonly string[];
  /** The step at which it is, counted from 1, and how that ended. */
  readonly step: number;
  readonly code?: number;
}

const LOOK_EVERY_MS = SECOND_MS;
const END_WITHIN_MS = 60 * SECOND_MS;

const nameOf = ({ name, version, hash }: Recipe): string => `${name}-${version}-${hash.slice(0, 8)}`;

/** Only what bears all three labels is an image of ours. */
function imageOf({ name: reference, labels, madeAtMs }: Kept): BuiltImage[] {
  const { image: name, version, recipe } = labels;
  if (!name || !version || !recipe) return [];
  return [{ name, version, recipe, ids: { '': reference }, reference, builtAt: madeAtMs }];
}

/** In base64; the depot unpacks an archive at its path. */
function sent({ path, mode, from }: Recipe['files'][number]) {
  const bytes = 'text' in from ? Buffer.from(from.text) : readFileSync('file' in from ? from.file : from.archive);
  return { path, mode, content: bytes.toString('base64'), isArchive: 'archive' in from };
}

export async function openImageBuilder(config: ImageConfig, context: Context): Promise<ImageBuilder> {
  const { clock, log } = context;
  const ask = depotAt(config, context);
  const pathOf = (kind: 'images' | 'works', name: string): string => `/${kind}/${encodeURIComponent(name)}`;

  async function listed(query: string, signal: AbortSignal): Promise<BuiltImage[]> {
    const kept = await everyPage<Kept>(ask, `/images${query}`, signal);
    return kept.flatMap(imageOf).sort((a, b) => b.builtAt - a.builtAt);
  }

  const find: ImageBuilder['find'] = async ({ hash }, signal) => (await listed(`?recipe=${hash}`, signal))[0];

  /** Passes its output on until it is done; throws if it fails or is given up. */
  async function follow(recipe: Recipe, { id, step, line }: BuildRun, signal: AbortSignal): Promise<void> {
    let seen = { step: 0, lines: 0 };
    while (!signal.aborted) {
      const work = (await ask({ path: `${pathOf('works', id)}?from=${seen.lines}`, signal })) as Work;
      if (work.step > seen.step) step(recipe.steps[work.step - 1] ?? '');
      for (const text of work.lines) line(text);
      seen = { step: work.step, lines: seen.lines + work.lines.length };
      if (work.state === 'failed') throw stepFailed(recipe, work.step, work.code);
      if (work.state === 'done') return;
      await clock.sleep(LOOK_EVERY_MS, signal);
    }
    throw new Fault('unavailable', 'The build was given up.');
  }

  /** Also after the caller has given up, so it has a time limit of its own. */
  async function endWork(id: string): Promise<void> {
    const late = new AbortController();
    const stop = clock.alarm(END_WITHIN_MS, () => late.abort());
    try {
      await ask({ method: 'DELETE', path: pathOf('works', id), signal: late.signal });
    } catch (thrown) {
      const { kind, message } = Fault.from(thrown);
      if (kind !== 'missing') log('warn', 'a build was left; the next one removes it', { build: id, error: message });
    } finally {
      stop();
    }
  }

  return {
    cloud: `depot:${config.url}`,

    async needs(signal) {
      try {
        await ask({ path: '/works', signal });
        return [];
      } catch (thrown) {
        const { message } = Fault.from(thrown);
        const why = `It makes the image. ${message}`;
        return [{ program: 'the depot', why, get: 'Name the address where it answers as url.' }];
      }
    },

    target: async () => ({ form: 'container', base: config.base, machine: 'x86_64' }),

    files({ base, files, steps, entry }) {
      const placed = files.map(({ path, mode }) => ({ path, mode }));
      return { 'work.json': JSON.stringify({ base, files: placed, steps, entry }, null, 2) };
    },

    find,

    async build(recipe, run, signal) {
      const { name, version, hash, base, steps, entry } = recipe;
      const image = { name: nameOf(recipe), labels: { image: name, version, recipe: hash } };
      const labels = { build: run.id, started: String(run.startedAt) };
      try {
        const body = { image, labels, base, files: recipe.files.map(sent), steps, entry };
        await ask({ method: 'PUT', path: pathOf('works', run.id), body, signal });
        await follow(recipe, run, signal);
        const made = await find(recipe, signal);
        if (!made) throw new Fault('unavailable', 'The depot says that the image is made, and does not list it.');
        return made;
      } finally {
        await endWork(run.id);
      }
    },

    list: (signal) => listed('', signal),

    async drop({ reference }, signal) {
      try {
        const kept = (await ask({ path: pathOf('images', reference), signal })) as Kept;
        if (imageOf(kept).length === 0) throw new Fault('denied', `Muster did not build the image ${reference}.`);
        await ask({ method: 'DELETE', path: pathOf('images', reference), signal });
      } catch (thrown) {
        if (Fault.from(thrown).kind !== 'missing') throw thrown;
      }
    },

    async clean(isOver, signal) {
      const markOf = ({ labels }: Work): BuildMark => ({ id: labels.build ?? '', startedAt: Number(labels.started) });
      const works = await everyPage<Work>(ask, '/works', signal);
      const left = works.filter((work) => work.labels.build && isOver(markOf(work)));
      for (const { name } of left) await ask({ method: 'DELETE', path: pathOf('works', name), signal });
      return left.map(({ name }) => `work ${name}`);
    },
  };
}
