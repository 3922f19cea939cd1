// A builder of images that exist only in memory, for the suite's own tests: once right, and once with each mistake.
import { z } from 'zod';
import { Fault, type FaultKind } from '#core/fault.ts';
import {
  type BuildMark,
  type BuildRun,
  type BuiltImage,
  type ImageBuilder,
  type Recipe,
  stepFailed,
} from '#core/image-builder.ts';
import type { ProgramCall } from '#core/programs.ts';
import { kind } from '#core/provider.ts';
import { during } from '#core/testing/during.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { ImageBuilderHarness, ImageBuilderWorld } from './image-builder-world.ts';

/** What may be wrong with a builder; each must break a law of the suite. */
export interface ImageBuilderMistakes {
  readonly assumesPrograms?: boolean;
  readonly findsOutByBuilding?: boolean;
  readonly keepsOldFiles?: boolean;
  readonly findsAnything?: boolean;
  readonly neverFinds?: boolean;
  readonly leavesContainer?: boolean;
  readonly isSilent?: boolean;
  readonly nameWithoutVersion?: boolean;
  readonly findsByName?: boolean;
  readonly succeedsOnFailure?: boolean;
  readonly leavesWhenFailed?: boolean;
  readonly hidesExitCode?: boolean;
  readonly hidesOutput?: boolean;
  readonly ignoresAbort?: boolean;
  readonly leavesWhenAborted?: boolean;
  readonly firstPageOnly?: boolean;
  readonly oldestFirst?: boolean;
  readonly listsForeign?: boolean;
  readonly dropsForeign?: boolean;
  readonly dropsByName?: boolean;
  readonly dropFailsAgain?: boolean;
  readonly pushesLatest?: boolean;
  readonly hidesRegistry?: boolean;
  readonly pushSucceedsAlways?: boolean;
  readonly cleansLiving?: boolean;
  readonly cleansNothing?: boolean;
  readonly passesForeignVariables?: boolean;
  readonly secretInArguments?: boolean;
  readonly everyFaultIsInternal?: boolean;
}

interface Held extends BuiltImage {
  readonly isOurs: boolean;
}

interface ImagePlace {
  readonly clock: VirtualClock;
  readonly images: Map<string, Held>;
  /** What is neither image nor nothing, with whose it is. */
  readonly others: Map<string, BuildMark>;
  readonly pushed: string[];
  readonly ran: ProgramCall[];
  builds: number;
  isLacking: boolean;
  isHanging: boolean;
  failing?: { readonly at: number; readonly code: number; readonly lines: readonly string[] };
  refusal?: string;
  fault?: FaultKind;
}

const CALL_MS = 10;
const STEP_MS = 100;
const COUNTLESS_MS = 10 ** 9;
const PAGE = 3;
const SECRET = 'a-planted-secret';
const ENV = { MEMORY_TOKEN: SECRET };

function builderOf(place: ImagePlace, mistakes: ImageBuilderMistakes): ImageBuilder {
  const { clock, images, others } = place;

  async function pass(ms: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(place.isHanging ? COUNTLESS_MS : ms, mistakes.ignoresAbort ? undefined : signal);
    if (signal.aborted && !mistakes.ignoresAbort) throw new Fault('unavailable', 'The call was given up.');
    if (place.fault) throw new Fault(mistakes.everyFaultIsInternal ? 'internal' : place.fault, 'The place fails.');
  }

  const referenceOf = ({ name, version }: Pick<Recipe, 'name' | 'version'>): string =>
    mistakes.nameWithoutVersion ? name : `${name}:${version}`;

  /** What a step prints, and its failure where it is the one that fails. */
  function endStep(recipe: Recipe, number: number, say: (line: string) => void): void {
    const step = recipe.steps[number - 1] ?? '';
    say(`ran ${step}`);
    const { at, code, lines = [] } = place.failing ?? {};
    if (at !== number) return;
    if (!mistakes.hidesOutput) for (const line of lines) say(line);
    if (mistakes.succeedsOnFailure) return;
    throw mistakes.hidesExitCode ? new Fault('invalid', 'A step failed.') : stepFailed(recipe, at, code);
  }

  /** Runs the steps of a recipe on a machine that is there meanwhile. */
  async function runSteps(recipe: Recipe, run: BuildRun, signal: AbortSignal): Promise<void> {
    const env = mistakes.passesForeignVariables ? { ...ENV, GITHUB_TOKEN: 'x' } : ENV;
    const args = mistakes.secretInArguments ? [`--token=${SECRET}`] : ['build'];
    place.ran.push({ program: 'memory', args, folder: run.folder, env });
    const out = mistakes.isSilent ? { step() {}, line() {} } : run;
    for (const [index, step] of recipe.steps.entries()) {
      out.step(step);
      await pass(STEP_MS, signal);
      endStep(recipe, index + 1, out.line);
    }
  }

  const pageOf = (listed: readonly BuiltImage[]): readonly BuiltImage[] =>
    mistakes.firstPageOnly ? listed.slice(0, PAGE) : listed;

  return {
    cloud: 'memory',
    async needs() {
      if (mistakes.findsOutByBuilding) place.builds += 1;
      if (!place.isLacking || mistakes.assumesPrograms) return [];
      return [{ program: 'memory', why: 'Images are kept in it.', get: 'Buy some.' }];
    },
    target: async () => ({ form: 'container', base: 'nothing', machine: 'x86_64' }),
    files: ({ base, steps, version }) => ({
      Recipe: mistakes.keepsOldFiles ? 'written once' : [base, version, ...steps].join('\n'),
    }),
    async find(recipe, signal) {
      await pass(CALL_MS, signal);
      if (mistakes.neverFinds) return undefined;
      if (mistakes.findsAnything) return images.values().next().value;
      return [...images.values()].find((image) =>
        mistakes.findsByName
          ? image.name === recipe.name && image.version === recipe.version
          : image.isOurs && image.recipe === recipe.hash,
      );
    },
    async build(recipe, run, signal) {
      place.builds += 1;
      const machine = `machine of ${run.id}`;
      others.set(machine, run);
      try {
        await runSteps(recipe, run, signal);
      } catch (thrown) {
        const isKept = signal.aborted ? mistakes.leavesWhenAborted : mistakes.leavesWhenFailed;
        if (!isKept) others.delete(machine);
        throw thrown;
      }
      if (!mistakes.leavesContainer) others.delete(machine);
      const { name, version, hash } = recipe;
      const reference = referenceOf(recipe);
      const builtAt = clock.now();
      const built = { name, version, recipe: hash, ids: { '': `id-${place.builds}` }, reference, builtAt };
      images.set(reference, { ...built, isOurs: true });
      return built;
    },
    async list(signal) {
      await pass(CALL_MS, signal);
      const ours = [...images.values()].filter(({ isOurs }) => isOurs || mistakes.listsForeign);
      return pageOf(mistakes.oldestFirst ? ours : ours.toReversed());
    },
    async drop({ reference, name }, signal) {
      await pass(CALL_MS, signal);
      const found = images.get(reference);
      if (!found && mistakes.dropFailsAgain) throw new Fault('missing', `There is no ${reference}.`);
      if (found && !found.isOurs && !mistakes.dropsForeign)
        throw new Fault('denied', `${reference} was not built by Muster.`);
      images.delete(reference);
      if (mistakes.dropsByName)
        for (const image of images.values()) if (image.name === name) images.delete(image.reference);
    },
    async push(image, to, { line }, signal) {
      await pass(CALL_MS, signal);
      const { refusal } = place;
      if (refusal !== undefined && !mistakes.pushSucceedsAlways)
        throw new Fault('unauthenticated', mistakes.hidesRegistry ? 'The registry refused.' : refusal, {
          remedy: `Run \`docker login ${to.split('/')[0]}\`.`,
        });
      const reference = `${to}:${mistakes.pushesLatest ? 'latest' : image.version}`;
      line(`pushed ${reference}`);
      place.pushed.push(reference);
      return { ...image, reference };
    },
    async clean(isOver, signal) {
      await pass(CALL_MS, signal);
      const left = [...others].filter(([, mark]) => isOver(mark) || mistakes.cleansLiving).map(([name]) => name);
      if (mistakes.cleansNothing) return [];
      for (const name of left) others.delete(name);
      return left;
    },
  };
}

function openWorld(mistakes: ImageBuilderMistakes): ImageBuilderWorld {
  const place: ImagePlace = {
    clock: new VirtualClock(),
    images: new Map(),
    others: new Map(),
    pushed: [],
    ran: [],
    builds: 0,
    isLacking: false,
    isHanging: false,
  };
  return {
    open: async () => builderOf(place, mistakes),
    settle: () => place.clock.advance(1_000),
    during: (running) => during(place.clock, running),
    images: () => [...place.images.keys()],
    others: () => [...place.others.keys()],
    builds: () => place.builds,
    ran: () => place.ran,
    async addForeign() {
      const foreign = { name: 'muster-agent', version: '1.2.0', recipe: '', ids: { '': 'id-0' }, builtAt: 1 };
      const reference = 'muster-agent:1.2.0';
      place.images.set(reference, { ...foreign, reference, isOurs: false });
      return { ...foreign, reference };
    },
    lack() {
      place.isLacking = true;
    },
    failStep(at, code, lines) {
      place.failing = { at, code, lines };
    },
    async abandon(mark) {
      place.others.set(`machine of ${mark.id}`, mark);
    },
    pushed: () => place.pushed,
    refusePush(words) {
      place.refusal = words;
    },
    fail(failure) {
      place.fault = failure;
    },
    hang() {
      place.isHanging = true;
    },
    async close() {},
  };
}

export const memoryImageBuilder = (mistakes: ImageBuilderMistakes = {}): ImageBuilderHarness => ({
  kind: kind({
    summary: 'Images in memory.',
    config: z.object({}),
    example: {},
    trust: 'any source',
    open: async () => openWorld(mistakes).open(),
  }),
  openWorld: async () => openWorld(mistakes),
  variables: Object.keys(ENV),
  secrets: [SECRET],
  faults: ['unavailable', 'denied', 'throttled'],
});
