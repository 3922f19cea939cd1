// The laws of an image builder: what `muster image build` relies on, wherever the images are.
import { type BuiltImage, recipeOf } from '#core/image-builder.ts';
import { going } from '#core/testing/going.ts';
import { demand, demandFault, sameNames } from './demand.ts';
import { build, find, isThere, openBuildReport, recipeFor } from './image-builder-steps.ts';
import type { ImageBuilderLawId, ImageBuilderSubject, ImageBuilderWorld } from './image-builder-world.ts';
import type { Law } from './suite.ts';

export type ImageBuilderLaw = Law<ImageBuilderLawId, ImageBuilderWorld, ImageBuilderSubject>;

const LAST_STEP = 2;
const CODE = 37;
const SAID = ['asking for it', 'there is no such thing'];

// Names of some clouds have no dots.
const plain = (text: string): string => text.replaceAll('.', '-');

const versions = (images: readonly BuiltImage[]): readonly string[] => images.map(({ version }) => version);

export const IMAGE_BUILDER_LAWS: readonly ImageBuilderLaw[] = [
  {
    id: 'needs',
    name: 'says what this machine lacks and how to get it, before anything starts; with all there it needs nothing',
    async check(world) {
      const before = await world.during((await world.open()).needs(going()));
      demand(before.length === 0, `needs ${before[0]?.program} although it is there`);
      world.lack();

      const needs = await world.during((await world.open()).needs(going()));

      demand(needs.length > 0, 'does not say that it lacks something');
      for (const { program, why, get } of needs)
        demand(
          program && /^\S.*\.$/s.test(why) && /^\S.*\.$/s.test(get),
          `does not say what ${program} is for or how to get it`,
        );
      demand(world.builds() === 0, 'begins a build to find out what it needs');
    },
  },
  {
    id: 'files',
    name: 'writes its files anew from the recipe alone',
    async check(world) {
      const builder = await world.open();
      const recipe = await recipeFor(world, builder);

      const [files, again] = [builder.files(recipe), (await world.open()).files(recipe)];
      const other = builder.files(recipeOf({ ...recipe, steps: ['true'] }));

      demand(Object.keys(files).length > 0, 'shows no file that it works from');
      demand(JSON.stringify(files) === JSON.stringify(again), 'an equal recipe gives other files');
      demand(JSON.stringify(files) !== JSON.stringify(other), 'another recipe gives the same files');
    },
  },
  {
    id: 'absent',
    name: 'finds nothing and lists nothing where nothing was built',
    async check(world) {
      const builder = await world.open();

      const found = await find(world, builder, await recipeFor(world, builder));

      demand(found === undefined, 'finds an image that was never built');
      sameNames(
        (await world.during(builder.list(going()))).map(({ reference }) => reference),
        [],
        'lists what was never built',
      );
    },
  },
  {
    id: 'builds',
    name: 'builds what the recipe says under its name and version, says what it does, and leaves nothing else',
    async check(world) {
      const builder = await world.open();
      const recipe = await recipeFor(world, builder);
      const report = openBuildReport();

      const image = await build(world, builder, recipe, { report });

      demand(image.recipe === recipe.hash, 'answers an image of another recipe');
      demand(image.name === recipe.name && image.version === recipe.version, 'answers another name or version');
      demand(plain(image.reference).includes(plain(recipe.version)), 'the name of the image does not tell its version');
      demand(Object.values(image.ids).every(Boolean) && Object.keys(image.ids).length > 0, 'answers no id');
      await isThere(world, builder, recipe);
      demand(report.steps.length > 0 && report.lines.length > 0, 'says nothing while it builds');
      sameNames(world.others(), [], 'a build that succeeded leaves something beside the image');
    },
  },
  {
    id: 'found',
    name: 'finds the image of an equal recipe, from another process too, and builds nothing for that',
    async check(world) {
      const first = await world.open();
      const recipe = await recipeFor(world, first);
      const built = await build(world, first, recipe);
      const [builds, images] = [world.builds(), world.images()];

      const second = await world.open();
      const found = await isThere(world, second, await recipeFor(world, second));

      demand(JSON.stringify(found.ids) === JSON.stringify(built.ids), 'finds another image than it built');
      demand(world.builds() === builds, 'builds again for an equal hash');
      sameNames(world.images(), images, 'makes or removes an image when it looks for one');
    },
  },
  {
    id: 'tells apart',
    name: 'tells versions apart: each is found under its own name, and none takes the name of another',
    async check(world) {
      const builder = await world.open();
      const one = await recipeFor(world, builder);
      const two = await recipeFor(world, builder, { version: '1.3.0' });
      const first = await build(world, builder, one);

      demand((await find(world, builder, two)) === undefined, 'takes another version for this one');
      const second = await build(world, builder, two);

      demand(first.reference !== second.reference, 'two versions have one name');
      await isThere(world, builder, one);
      await isThere(world, builder, two);
    },
  },
  {
    id: 'replaces',
    name: 'does not take an image of another recipe for this one; built again, its version is the new one',
    async check(world) {
      const builder = await world.open();
      const recipe = await recipeFor(world, builder);
      await build(world, builder, recipe);
      const changed = await recipeFor(world, builder, { steps: ['true', 'echo other > /other'] });

      demand((await find(world, builder, changed)) === undefined, 'takes a recipe with other steps for an equal one');
      await build(world, builder, changed);

      await isThere(world, builder, changed);
    },
  },
  {
    id: 'failed step',
    name: 'a step that fails fails the build with its place and exit code; its output is there, and nothing is left',
    async check(world) {
      const builder = await world.open();
      const recipe = await recipeFor(world, builder);
      const [images, others] = [world.images(), world.others()];
      const report = openBuildReport();
      world.failStep(LAST_STEP, CODE, SAID);

      const fault = await demandFault(build(world, builder, recipe, { report }), 'succeeds although a step failed');
      await world.settle();

      demand(fault.kind === 'invalid', `a failed step comes out as ${fault.kind}`);
      demand(fault.at === `steps[${LAST_STEP - 1}]`, `does not say which step failed: ${fault.at}`);
      demand(fault.message.includes(`exit code ${CODE}`), `does not say the exit code: ${fault.message}`);
      for (const said of SAID)
        demand(
          report.lines.some((line) => line.includes(said)),
          `keeps "${said}" of the output to itself`,
        );
      sameNames(world.others(), others, 'a build that failed leaves something');
      sameNames(world.images(), images, 'a build that failed leaves an image');
      demand((await find(world, builder, recipe)) === undefined, 'finds the image of a build that failed');
    },
  },
  {
    id: 'aborted',
    name: 'ends a build that its caller gives up, and leaves nothing of it',
    async check(world) {
      const builder = await world.open();
      const recipe = await recipeFor(world, builder);
      const images = world.images();
      world.hang();
      const giveUp = new AbortController();
      let isOver = false;
      const running = build(world, builder, recipe, { signal: giveUp.signal }).finally(() => {
        isOver = true;
      });
      running.catch(() => {});
      await world.settle();
      demand(!isOver, 'the place answers although it hangs; correct the harness');
      giveUp.abort();
      await world.settle();
      demand(isOver, 'a build that was given up goes on');

      await demandFault(running, 'a build that was given up succeeds');
      sameNames(world.others(), [], 'a build that was given up leaves something');
      sameNames(world.images(), images, 'a build that was given up leaves an image');
    },
  },
  {
    id: 'lists',
    name: 'lists all images of ours, the newest first, on every page',
    async check(world) {
      const builder = await world.open();
      const wanted = ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0'];
      for (const version of wanted) await build(world, builder, await recipeFor(world, builder, { version }));

      const listed = await world.during((await world.open()).list(going()));

      sameNames(versions(listed), wanted, 'does not list what it built');
      demand(versions(listed)[0] === '1.4.0', 'does not list the newest first');
      const times = listed.map(({ builtAt }) => builtAt);
      demand(
        times.every((at, index) => at > 0 && at <= (times[index - 1] ?? at)),
        'does not know when its images were built',
      );
    },
  },
  {
    id: 'drops',
    name: 'drops an image and no other; again is a success',
    async check(world) {
      const builder = await world.open();
      const [one, two] = [await recipeFor(world, builder), await recipeFor(world, builder, { version: '1.3.0' })];
      const image = await build(world, builder, one);
      await build(world, builder, two);

      for (let times = 0; times < 2; times++) {
        await world.during(builder.drop(image, going()));
        await world.settle();
      }

      demand((await find(world, builder, one)) === undefined, 'finds what it dropped');
      demand(!world.images().includes(image.reference), 'does not drop the image');
      await isThere(world, builder, two);
    },
  },
  {
    id: 'only ours',
    name: 'neither finds, lists, replaces nor drops an image that it did not build',
    async check(world) {
      const builder = await world.open();
      const foreign = await world.addForeign();
      const before = world.images();

      const found = await find(world, builder, await recipeFor(world, builder));
      const listed = await world.during(builder.list(going()));
      const fault = await demandFault(world.during(builder.drop(foreign, going())), 'drops an image of others');

      demand(found === undefined, 'finds an image of others');
      sameNames(
        listed.map(({ reference }) => reference),
        [],
        'lists images of others',
      );
      demand(fault.kind === 'denied', `refuses to drop an image of others as ${fault.kind}`);
      await world.settle();
      sameNames(world.images(), before, 'removes an image of others');
    },
  },
];
