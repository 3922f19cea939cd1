// No worker stops, and none comes in its place, whatever is wrong with the cloud or with the operator's file.

import { expect } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { documentOf, type Place, type SliceMachine } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld, type SourceEntry } from '#sim/slice/world.ts';
import { demand } from './demand.ts';
import { divisorOf } from './slice-story.ts';
import type { SliceLaw, SliceSuite } from './slice-world.ts';

const POOLS = ['alpha', 'beta'];
const NAMED: SourceEntry = { name: 'documents', place: 'pools' };
const FOR_EVER = 1e9;

interface Scene {
  readonly harness: SliceSuite;
  readonly world: SliceWorld;
  /** The machines that were there before the trouble. */
  readonly before: readonly SliceMachine[];
}

/** Two pools of one source, each with an idle worker; the first has a busy one beside it. */
async function openScene(harness: SliceSuite, sources: readonly SourceEntry[] = [NAMED]): Promise<Scene> {
  const world = await openSliceWorld(harness, { sources });
  for (const name of POOLS) world.documents.write('pools', name, documentOf(harness, name));
  await world.clock.advance(2 * MINUTE_MS);
  await world.life.submit('alpha', 1, 3 * HOUR_MS);
  await world.clock.advance(2 * MINUTE_MS);
  const before = world.machines();
  expect(before).toHaveLength(3);
  return { harness, world, before };
}

/** No machine of before has gone, none has come in its place, and the session still runs where it began. */
function expectUntouched({ harness, world, before }: Scene): void {
  const { view } = world.life.store;
  const nowMs = world.clock.now();
  expect(before.map((one) => one.state(nowMs))).toEqual(['running', 'running', 'running']);
  expect(world.machines()).toHaveLength(3);
  expect([...view.workers.all()].filter(({ drain, removal }) => drain || removal)).toEqual([]);
  expect([view.pools.size, view.workers.size]).toEqual([2, 3]);
  expect([...world.agents.runs.values()]).toEqual([1]);
  expect(harness.removals.map((action) => world.cloud.fake.countOf(action)).filter(Boolean)).toEqual([]);
}

/** For that long, or a part of it in the short run, with a new process in the middle. */
async function expectSteadfast(scene: Scene, longMs = 20 * MINUTE_MS): Promise<void> {
  const { world } = scene;
  const forMs = Math.max(longMs / divisorOf(scene.harness), 4 * MINUTE_MS);
  await world.clock.advance(forMs / 2);
  expectUntouched(scene);
  world.restart();
  await world.clock.advance(forMs / 2);
  expectUntouched(scene);
}

const troublesOf = ({ world }: Scene) =>
  POOLS.map((name) => world.life.workers.trouble(world.poolId(name) ?? '')?.message);
const sourceOf = ({ world }: Scene) => world.life.store.view.sources.get('documents');

/** The operator's mistakes, each with what the file said before. */
const MISTAKES: readonly (readonly [what: string, before: SourceEntry, after: SourceEntry])[] = [
  ['the place of a named source is mistyped', NAMED, { ...NAMED, place: 'mistyped' }],
  ['a named source reads elsewhere', NAMED, { ...NAMED, place: 'elsewhere' }],
  ['the place of a source without a name is mistyped', { place: 'pools' }, { place: 'mistyped' }],
  ['a source gets another name', NAMED, { ...NAMED, name: 'parameters' }],
];

async function expectThrough(what: string, check: () => Promise<void>): Promise<void> {
  await check().catch((thrown: Error) => demand(false, `${what}: ${thrown.message}`));
}

export const STEADFAST_LAWS: readonly SliceLaw[] = [
  {
    id: 'broken page of documents',
    name: 'no worker stops when a listing of the documents fails on its second page',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      const { documents } = scene.world.cloud;
      if (!documents) return;
      demand(documents.laterPage, 'the harness must offer documents.laterPage, or excuse this law');
      const { what, ...when } = documents.laterPage as NonNullable<typeof documents.laterPage>;
      scene.world.cloud.fake.failureRules.add({ ...when, what, times: FOR_EVER });

      await expectSteadfast(scene);
      expect(sourceOf(scene)?.fault?.message).toContain(what.code);
    },
  },
  {
    id: 'broken page of machines',
    name: 'no worker stops when a listing of the machines fails on its second page',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      const { what, ...when } = harness.laterPage;
      scene.world.cloud.fake.failureRules.add({ ...when, what, times: FOR_EVER });

      await expectSteadfast(scene);
      expect(troublesOf(scene)).toEqual(POOLS.map(() => expect.stringContaining(what.code)));
    },
  },
  {
    id: 'empty listing',
    name: 'no worker stops when the listing of documents is empty',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      const { documents, clock } = scene.world;
      const { vanish = documents.erase } = documents;
      for (const name of POOLS) vanish('pools', name);

      await expectSteadfast(scene);
      expect(sourceOf(scene)?.held?.why).toBe('The last listings are empty; this source had 2 pools.');
      for (const name of POOLS) documents.write('pools', name, documentOf(harness, name));
      await clock.advance(2 * MINUTE_MS);
      expectUntouched(scene);
      expect(sourceOf(scene)?.held).toBeUndefined();
    },
  },
  {
    id: 'wrong place',
    name: 'no worker stops when the file names a source wrongly, or when that is corrected',
    async check(_stage, harness) {
      for (const [what, before, after] of MISTAKES) {
        await expectThrough(what, async () => {
          const scene = await openScene(harness, [before]);
          await scene.world.setSources([after]);

          await expectSteadfast(scene);
          await scene.world.setSources([before]);
          await expectSteadfast(scene);
        });
      }
    },
  },
  {
    id: 'source taken out',
    name: 'no worker stops when the source is taken out of the file, or when it returns',
    async check(_stage, harness) {
      const scene = await openScene(harness);
      await scene.world.setSources([]);

      await expectSteadfast(scene);
      expect(sourceOf(scene)?.held?.why).toContain('no longer has this source');
      await scene.world.setSources([NAMED]);
      await expectSteadfast(scene);
    },
  },
  {
    id: 'moved',
    name: 'no worker stops when a pool moves to another source, in either order',
    async check(_stage, harness) {
      for (const order of ['put there first', 'taken away first']) {
        await expectThrough(order, async () => {
          const scene = await openScene(harness, [NAMED, { name: 'other', place: 'other' }]);
          const { documents, clock, life } = scene.world;
          const put = () => documents.write('other' satisfies Place, 'alpha', documentOf(harness, 'alpha'));
          const take = () => documents.erase('pools', 'alpha');
          for (const act of order === 'put there first' ? [put, take] : [take, put]) {
            act();
            await clock.advance(15_000);
          }

          await expectSteadfast(scene);
          const owners = [...scene.world.life.store.view.pools.all()].map(({ name, owner }) => [name, owner.source]);
          expect(Object.fromEntries(owners)).toEqual({ alpha: 'other', beta: 'documents' });
          expect(scene.world.life).not.toBe(life);
        });
      }
    },
  },
  {
    id: 'outage',
    name: 'no worker stops in a long outage of the cloud, of any kind, or after it',
    async check(_stage, harness) {
      // An hour in the long run.
      const kinds: readonly CallFailure[] = [
        { kind: 'lost request' },
        { kind: 'hang' },
        { kind: 'throttle' },
        { kind: 'garbage' },
        harness.denied,
      ];
      for (const what of kinds) {
        await expectThrough(what.kind, async () => {
          const scene = await openScene(harness);
          const end = scene.world.cloud.fake.failureRules.add({ times: FOR_EVER, what });

          await expectSteadfast(scene, HOUR_MS);
          expect(troublesOf(scene)).toEqual(POOLS.map(() => expect.stringMatching(harness.named)));
          end();
          await scene.world.clock.advance(10 * MINUTE_MS);
          expectUntouched(scene);
          expect(troublesOf(scene)).toEqual([undefined, undefined]);
          expect(sourceOf(scene)?.fault).toBeUndefined();
        });
      }
    },
  },
];
