// The laws of an image builder about what is beyond it: registries, programs, what others left, failures of its place.
import { Fault } from '#core/fault.ts';
import type { BuildMark } from '#core/image-builder.ts';
import { going } from '#core/testing/going.ts';
import { demand, demandFault, sameNames } from './demand.ts';
import type { ImageBuilderLaw } from './image-builder-laws.ts';
import { build, find, openBuildReport, recipeFor } from './image-builder-steps.ts';

// What every program finds.
const USUAL_VARIABLES = ['PATH', 'HOME', 'LANG', 'TMPDIR'];

const WORDS = 'the tenant of this registry is suspended';
const quiet = { line() {} };

export const IMAGE_BUILDER_REACH_LAWS: readonly ImageBuilderLaw[] = [
  {
    id: 'pushes',
    name: 'copies an image to a registry under the name asked for and its version',
    async check(world, { registry = 'registry.test/team/agent' }) {
      const builder = await world.open();
      demand(builder.push && world.pushed, 'cannot push; give an excuse');
      const image = await build(world, builder, await recipeFor(world, builder));

      const pushed = await world.during(builder.push?.(image, registry, quiet, going()) as Promise<typeof image>);

      demand(pushed.reference === `${registry}:${image.version}`, `pushes it as ${pushed.reference}`);
      demand(pushed.recipe === image.recipe, 'pushes an image of another recipe');
      sameNames(world.pushed?.() ?? [], [pushed.reference], 'the registry holds something else');
      sameNames(world.others(), [], 'a push leaves something');
    },
  },
  {
    id: 'push refused',
    name: 'a registry that refuses is a fault with its words and the login command; the image stays',
    async check(world, { registry = 'registry.test/team/agent' }) {
      const builder = await world.open();
      demand(builder.push && world.refusePush, 'cannot push; give an excuse');
      const image = await build(world, builder, await recipeFor(world, builder));
      world.refusePush?.(`unauthorized: ${WORDS}`);

      const pushing = builder.push?.(image, registry, quiet, going()) as Promise<unknown>;
      const fault = await demandFault(world.during(pushing), 'succeeds although the registry refused');

      demand(fault.message.includes(WORDS), `hides the words of the registry: ${fault.message}`);
      demand(
        fault.remedy.includes(`docker login ${registry.split('/')[0]}`),
        `does not name the login command: ${fault.remedy}`,
      );
      demand(fault.kind === 'unauthenticated' || fault.kind === 'denied', `a refusal comes out as ${fault.kind}`);
      demand(await find(world, builder, await recipeFor(world, builder)), 'loses the image when a push is refused');
    },
  },
  {
    id: 'cleans',
    name: 'removes what a killed build left, and nothing of one that still runs; again there is nothing to remove',
    async check(world) {
      const builder = await world.open();
      demand(builder.clean && world.abandon, 'leaves nothing after kill -9; give an excuse');
      const [dead, living]: BuildMark[] = [
        { id: 'dead1', startedAt: 1_000 },
        { id: 'living1', startedAt: 2_000 },
      ] as [BuildMark, BuildMark];
      await world.abandon?.(living as BuildMark);
      const kept = world.others();
      await world.abandon?.(dead as BuildMark);
      const left = world.others().filter((name) => !kept.includes(name));
      demand(left.length > 0, 'a killed build leaves nothing; correct the harness');
      const seen: BuildMark[] = [];
      const isOver = (mark: BuildMark): boolean => {
        seen.push(mark);
        return mark.id === dead?.id;
      };

      const removed = await world.during(builder.clean?.(isOver, going()) as Promise<readonly string[]>);
      await world.settle();

      demand(
        seen.some(({ id, startedAt }) => id === living?.id && startedAt === living.startedAt),
        'does not know whose a thing is, and since when',
      );
      sameNames(world.others(), kept, 'does not remove what a killed build left, or removes what a living one has');
      demand(removed.length >= 1, 'does not say what it removed');
      const again = await world.during(builder.clean?.(isOver, going()) as Promise<readonly string[]>);
      sameNames(again, [], 'removes twice');
    },
  },
  {
    id: 'own variables',
    name: 'its programs run in the folder of the build, and find no variables but those of its cloud',
    async check(world, { variables = [] }) {
      const builder = await world.open();
      await build(world, builder, await recipeFor(world, builder));

      const mayFind = new Set([...variables, ...USUAL_VARIABLES]);
      for (const { program, env, folder } of world.ran()) {
        const foreign = Object.keys(env).filter((name) => !mayFind.has(name));
        demand(foreign.length === 0, `${program} finds ${foreign.join(', ')}`);
        demand(/muster-image-/.test(folder), `${program} runs in ${folder}`);
      }
    },
  },
  {
    id: 'no secrets',
    name: 'no secret is in its files, its output or the arguments of its programs',
    async check(world, { secrets = [] }) {
      const builder = await world.open();
      const recipe = await recipeFor(world, builder);
      const report = openBuildReport();
      await build(world, builder, recipe, { report });

      const args = world.ran().flatMap((call) => call.args);
      const shown = JSON.stringify([builder.files(recipe), report, args]);
      for (const secret of secrets) demand(!shown.includes(secret), 'shows a secret');
    },
  },
  {
    id: 'typed faults',
    name: 'throws a fault of the right kind when its place fails',
    async check(world, { faults = ['unavailable'] }) {
      const builder = await world.open();
      const recipe = await recipeFor(world, builder);
      for (const kind of faults) {
        world.fail(kind);
        const fault = await demandFault(find(world, builder, recipe), 'the failure of its place is hidden');
        demand(fault.kind === kind, `a failure of kind ${kind} comes out as ${fault.kind}`);
        const building = build(world, builder, recipe).catch((thrown) => Fault.from(thrown));
        demand((await building) instanceof Fault, 'builds although its place fails');
      }
    },
  },
];
