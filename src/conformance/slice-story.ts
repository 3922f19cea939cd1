// The slice as one story: a document comes, sessions run, the document goes. It must end well wherever the server is
// dropped and whatever reply is lost.

import { expect, inject } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import type { CrashPoint } from '#sim/crash-points.ts';
import { documentOf, type SliceHarness } from '#sim/slice/cloud.ts';
import { INSTALL, openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import { demand } from './demand.ts';
import type { SliceLaw, SliceSuite } from './slice-world.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Every how many points the slice is tried; with 1, as in `npm run test:long`, all its sizes are whole too. */
    sliceStride: number | undefined;
  }
}

// Odd, since a call that was carried out comes right after the same call that was not: both are to be taken.
export const USUAL_STRIDE = 5;
const USUAL_DIVISOR = 10;
// The three machines of the story are more than one page.
const STORY_PAGE = 2;

type Strides = Pick<SliceSuite, 'stride' | 'shortStride'>;

/** Tests of the suite itself take every point. */
const strideOf = ({ stride, shortStride = USUAL_STRIDE }: Strides): number =>
  stride ?? inject('sliceStride') ?? shortStride;
/** By what a large number of machines or documents, or a long time, is divided. */
export const divisorOf = (harness: Strides): number => (strideOf(harness) === 1 ? 1 : USUAL_DIVISOR);

export interface StoryRun {
  readonly world: SliceWorld;
  /** Number of sessions that were durable when their caller heard of it. */
  readonly accepted: number;
  readonly most: number;
  /** What was there before the document went. */
  readonly middle: { readonly workers: number; readonly machines: number };
  /** What the pool said was wrong, in the course of the story. */
  readonly troubles: ReadonlySet<string>;
}

export interface Twist {
  readonly crashAt?: CrashPoint;
  readonly lagMs?: number;
  readonly bootMs?: number;
  /** So much longer lasts each part of it. */
  readonly longerMs?: number;
  prepare?(world: SliceWorld): void;
}

export async function story(harness: SliceHarness, { prepare, longerMs = 0, ...twist }: Twist = {}): Promise<StoryRun> {
  const world = await openSliceWorld(harness, { ...twist, pageSize: STORY_PAGE });
  prepare?.(world);
  let accepted = 0;
  let most = 0;
  const troubles = new Set<string>();
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms + longerMs; passedMs += 5 * SECOND_MS) {
      await world.clock.advance(5 * SECOND_MS);
      most = Math.max(most, world.machines().length);
      const trouble = world.life.workers.trouble(world.poolId('gpu-pool') ?? '');
      if (trouble !== undefined) troubles.add(trouble.message);
    }
  };
  world.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool', { scaler: { idle_decay: '15s' } }));
  await pass(MINUTE_MS);
  if (world.poolId('gpu-pool') !== undefined) {
    world.life.submit('gpu-pool', 3, 20 * SECOND_MS).then(
      () => (accepted += 3),
      () => {},
    );
  }
  await pass(2 * MINUTE_MS);
  const middle = { workers: world.life.store.view.workers.size, machines: world.machines().length };
  world.documents.erase('pools', 'gpu-pool');
  await pass(90 * SECOND_MS);
  return { world, accepted, most, middle, troubles };
}

export function madeTwice({ cloud }: Pick<SliceWorld, 'cloud'>): string[] {
  const names = cloud.machines().flatMap(({ name, mark }) => (mark ? [name] : []));
  return names.filter((name, at) => names.indexOf(name) !== at);
}

/** Never too many machines, none made twice, each accepted session run exactly once, no session killed, and in the end nothing is left. */
export function expectWhole({ world, accepted, most, middle }: StoryRun): void {
  const ran = [...world.agents.runs.values()];
  expect(middle, 'in the middle').toEqual({ workers: 1, machines: 1 });
  expect(madeTwice(world), 'machines made twice').toEqual([]);
  expect(most, 'machines at a time').toBeLessThanOrEqual(3);
  expect(
    ran.filter((times) => times !== 1),
    'sessions that ran more than once',
  ).toEqual([]);
  expect(ran.length, 'sessions that ran').toBeGreaterThanOrEqual(accepted);
  expect(world.agents.kills, 'machines ended under a session').toEqual([]);
  expect(
    world.machines().map(({ name }) => name),
    'machines in the end',
  ).toEqual([]);
  const { pools, workers, launches, sessions } = world.life.store.view;
  const left = { pools: pools.size, workers: workers.size, launches: launches.size, sessions: sessions.size };
  expect(left, 'rows in the end').toEqual({ pools: 0, workers: 0, launches: 0, sessions: 0 });
}

interface TwistedStory {
  readonly name: string;
  readonly twist: Twist;
}

/** Each of these stories ends well; the first that does not is named. */
async function expectAll(harness: SliceSuite, stories: readonly TwistedStory[]): Promise<void> {
  for (const { name, twist } of stories) {
    try {
      expectWhole(await story(harness, twist));
    } catch (thrown) {
      demand(false, `${name}: ${(thrown as Error).message}`);
    }
  }
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
/** Every nth point, as the run was asked for. */
export function taken<T>(harness: Strides, points: readonly T[]): T[] {
  const stride = strideOf(harness);
  return points.filter((_, at) => at % stride === 0);
}

/** Where the server is dropped: at each of so many points, before and after what it does there. */
export function crashPointsOf(harness: Strides, at: CrashPoint['at'], count: number): CrashPoint[] {
  const points = numbers(count).flatMap((nth) => [false, true].map((isDone): CrashPoint => ({ at, nth, isDone })));
  return taken(harness, points);
}

function drops(harness: SliceSuite, at: CrashPoint['at'], count: number): TwistedStory[] {
  return crashPointsOf(harness, at, count).map((crashAt) => ({
    name: `dropped at ${JSON.stringify(crashAt)}`,
    twist: { crashAt },
  }));
}

function failureRulesAt(harness: SliceSuite, what: CallFailure, count: number): TwistedStory[] {
  return taken(harness, numbers(count)).map((nth) => ({
    name: `${what.kind} at call ${nth}`,
    twist: { prepare: ({ cloud }) => void cloud.fake.failureRules.add({ what, after: nth - 1 }) },
  }));
}

export const STORY_LAWS: readonly SliceLaw[] = [
  {
    id: 'story',
    name: 'a pool comes, works and goes',
    async check(_stage, harness) {
      const run = await story(harness);

      expectWhole(run);
      expect([run.accepted, run.most]).toEqual([3, 3]);
    },
  },
  {
    id: 'boots',
    name: 'a machine without an agent gets the one that the server has packed',
    async check(_stage, harness) {
      const world = await openSliceWorld(harness);
      world.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool'));
      await world.clock.advance(MINUTE_MS);
      const [machine] = world.machines();
      const script = machine?.scripts().join('\n') ?? '';

      demand(machine, 'no machine was made');
      for (const { url, sha256 } of INSTALL.archives) {
        const isOffered = script.includes(url) && script.includes(sha256);
        demand(
          isOffered,
          `the boot data lack ${url}: say boots: 'script' in the kind, and give boot.install to bootScript`,
        );
      }
    },
  },
  {
    id: 'dropped at writes',
    name: 'a pool comes, works and goes though the server is dropped at any commit, durable or not',
    async check(_stage, harness) {
      const { world } = await story(harness);

      expect(world.points.commit).toBeGreaterThan(12);
      await expectAll(harness, drops(harness, 'commit', world.points.commit));
    },
  },
  {
    id: 'dropped at calls',
    name: 'a pool comes, works and goes though the server is dropped at any call to the cloud, carried out or not',
    async check(_stage, harness) {
      const { world } = await story(harness);

      expect(world.points.call).toBeGreaterThan(10);
      await expectAll(harness, drops(harness, 'call', world.points.call));
    },
  },
  {
    id: 'lost replies',
    name: 'a pool comes, works and goes though any one reply is lost',
    async check(_stage, harness) {
      const { world } = await story(harness);

      await expectAll(harness, failureRulesAt(harness, { kind: 'lost reply' }, world.points.call));
    },
  },
  {
    id: 'late listing',
    name: 'nothing is made twice when the reply to a creation is lost and listings and boots take minutes',
    async check(_stage, harness) {
      const { world } = await story(harness, {
        lagMs: MINUTE_MS,
        bootMs: 2 * MINUTE_MS,
        prepare: ({ cloud }) =>
          void cloud.fake.failureRules.add({ action: harness.creation, what: { kind: 'lost reply' } }),
      });

      expect(world.cloud.fake.countOf(harness.creation)).toBeGreaterThan(1);
      expect(madeTwice(world), 'machines made twice').toEqual([]);
    },
  },
  {
    id: 'late refusal',
    name: 'a pool comes, works and goes though capacity is refused after it was promised, and says so meanwhile',
    async check(_stage, harness) {
      for (const count of numbers(3)) {
        const run = await story(harness, {
          longerMs: 2 * (harness.refusedAfterMs ?? 0),
          prepare: ({ cloud }) => cloud.refuseLate(count),
        });

        expectWhole(run);
        expect([...run.troubles].join('\n'), `${count} promised and not made`).toContain('exhausted');
      }
    },
  },
  {
    id: 'thousand',
    name: 'hundreds of workers come and go within the limits of the cloud, and each is accounted for',
    async check(_stage, harness) {
      // A thousand in the long run.
      const count = 1_000 / divisorOf(harness);
      const { grownWithinMs = MINUTE_MS / 2 } = harness;
      const world = await openSliceWorld(harness, { pageSize: 1_000, isLimited: true });
      const scaler = { max_agents: count, min_idle_agents: 0, max_idle_agents: 0, idle_decay: '0s' };
      world.documents.write('pools', 'gpu-pool', documentOf(harness, 'gpu-pool', { scaler }));
      await world.clock.advance(MINUTE_MS);

      await world.life.submit('gpu-pool', count, grownWithinMs + MINUTE_MS / 2);
      await world.clock.advance(grownWithinMs);
      const { view } = world.life.store;
      const made = { machines: world.machines().length, workers: view.workers.size, launches: view.launches.size };
      const joined = [...view.workers.all()].filter(({ joinedAt }) => joinedAt !== undefined).length;
      const creations = world.cloud.fake.countOf(harness.creation);
      await world.clock.advance(1.5 * MINUTE_MS + grownWithinMs);

      expect(made).toEqual({ machines: count, workers: count, launches: 0 });
      expect(joined).toBe(count);
      expect(creations).toBeLessThanOrEqual(harness.mostCalls.creation);
      expect([...world.agents.runs.values()].filter((times) => times === 1)).toHaveLength(count);
      expect([world.machines().length, view.workers.size]).toEqual([0, 0]);
      expect(world.cloud.fake.countOf(harness.creation)).toBe(creations);
      expect(world.cloud.fake.countOf(harness.removals[0] ?? '')).toBeLessThanOrEqual(harness.mostCalls.removal);
      expect(world.cloud.fake.calls.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
    },
  },
];
