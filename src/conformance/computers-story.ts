// A computer as one story: it is asked for, runs a command, and is removed. It must end well wherever the server is dropped
// and whatever reply is lost.
import { expect } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import { commandOf } from '#sim/work.ts';
import {
  type ComputerLaw,
  type ComputerScene,
  type ComputerSuite,
  callerAt,
  create,
  everMade,
  expectNothingLeft,
  expectRemoved,
  heldBy,
  insistOnCreate,
  insistOnRemoval,
  machinesOf,
  openScene,
  rowOf,
  statusIn,
} from './computers-world.ts';
import { demand } from './demand.ts';
import { crashPointsOf, madeTwice, numbers, taken, USUAL_STRIDE } from './slice-story.ts';

type Twist = Parameters<typeof openScene>[1];

interface ComputerRun {
  readonly scene: ComputerScene;
  readonly most: number;
  /** Whether its command was durable when its caller heard of it. */
  readonly isAccepted: boolean;
  /** Before it was removed. */
  readonly middle: { readonly status: string; readonly machines: number };
}

const EXEC = {
  command: commandOf({ durationMs: 10 * SECOND_MS, exitCode: 0, pieces: 0 }),
  ...{ env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries: 0 },
};

/** What may go wrong with any call, carried out or not; the cloud itself adds a refusal of its own. */
const FAILURES: readonly CallFailure[] = [
  { kind: 'lost reply' },
  { kind: 'truncated reply' },
  { kind: 'lost request' },
  { kind: 'throttle' },
  { kind: 'garbage' },
  { kind: 'hang' },
  { kind: 'hang', done: true },
];

// Clouds call something unfinished only after minutes, since its maker may be slow; a call without an answer is given up
// after a minute or so; what could not be removed at once is found by a look at all parts, which happens rarely.
const LATE_MS = 5 * MINUTE_MS;

interface Leniency {
  /** It may be late at each of its turns. */
  readonly isSlow?: boolean;
  /** What was made only in part may be removed and made anew. */
  readonly mayBeAnew?: boolean;
}

async function story(
  harness: ComputerSuite,
  twist: Twist = {},
  { isSlow = harness.makesAnew }: Leniency = {},
): Promise<ComputerRun> {
  const scene = await openScene(harness, twist);
  const { world } = scene;
  let most = 0;
  let isAccepted = false;
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 5 * SECOND_MS) {
      await world.clock.advance(5 * SECOND_MS);
      most = Math.max(most, machinesOf(scene).length);
    }
  };
  const passUntil = async (isOver: () => boolean): Promise<void> => {
    await pass(90 * SECOND_MS);
    for (let ms = 0; isSlow && !isOver() && ms < LATE_MS; ms += MINUTE_MS) await pass(MINUTE_MS);
  };
  await insistOnCreate(scene, 'dev');
  await passUntil(() => statusIn(scene, 'dev') === 'running');
  const computer = rowOf(scene, 'dev')?.id;
  if (computer !== undefined)
    world.life.sessions.submit([{ computer, spec: EXEC }], callerAt()).then(
      () => (isAccepted = true),
      () => {},
    );
  await pass(MINUTE_MS);
  const middle = { status: statusIn(scene, 'dev'), machines: machinesOf(scene).length };
  await insistOnRemoval(scene, 'dev');
  await passUntil(() => statusIn(scene, 'dev') === 'none' && heldBy(scene).length === 0);
  return { scene, most, isAccepted, middle };
}

/** One machine was made, once, an accepted command ran once, and in the end nothing is left. */
function expectWhole({ scene, most, isAccepted, middle }: ComputerRun, mayBeAnew = scene.harness.makesAnew): void {
  const { world } = scene;
  const ran = [...world.agents.runs.values()];
  expect(middle, 'in the middle').toEqual({ status: 'running', machines: 1 });
  expect(most, 'machines at a time').toBe(1);
  expect(madeTwice(world), 'machines made twice').toEqual([]);
  expect(everMade(scene).length, 'machines ever made').toBeLessThanOrEqual(mayBeAnew ? 2 : 1);
  expect(ran.length, 'commands that ran').toBeGreaterThanOrEqual(isAccepted ? 1 : 0);
  expect(
    ran.filter((times) => times !== 1),
    'commands that ran more than once',
  ).toEqual([]);
  expectNothingLeft(scene);
  const ended = world.disk.histories.endedComputers.map(({ name, endedBy }) => ({ name, endedBy }));
  expect(ended, 'its history').toEqual([{ name: 'dev', endedBy: callerAt().who }]);
}

/** Each of these stories ends well; the first that does not is named. */
async function expectAll(
  harness: ComputerSuite,
  stories: readonly (readonly [name: string, twist: Twist, leniency?: Leniency])[],
): Promise<void> {
  for (const [name, twist, leniency] of stories) {
    try {
      expectWhole(await story(harness, twist, leniency), leniency?.mayBeAnew);
    } catch (thrown) {
      demand(false, `${name}: ${(thrown as Error).message}`);
    }
  }
}

const dropLaw = (at: 'commit' | 'call'): ComputerLaw['check'] =>
  async function check(_stage, harness) {
    const { scene } = await story(harness);
    const points = crashPointsOf(harness, at, scene.world.points[at]);

    expect(points.length).toBeGreaterThan(0);
    await expectAll(
      harness,
      points.map((crashAt) => [`dropped at ${JSON.stringify(crashAt)}`, { crashAt }] as const),
    );
  };

export const STORY_LAWS: readonly ComputerLaw[] = [
  {
    id: 'story',
    name: 'a computer starts, runs a command and is removed, and nothing of it is left',
    async check(_stage, harness) {
      const run = await story(harness);

      expectWhole(run);
      expect(run.isAccepted).toBe(true);
    },
  },
  {
    id: 'dropped at writes',
    name: 'a computer comes and goes though the server is dropped at any commit, durable or not',
    check: dropLaw('commit'),
  },
  {
    id: 'dropped at calls',
    name: 'a computer comes and goes though the server is dropped at any call to the cloud, carried out or not',
    check: dropLaw('call'),
  },
  {
    id: 'failing calls',
    name: 'a computer comes and goes though any one call to the cloud fails, in any way',
    async check(_stage, harness) {
      const { scene } = await story(harness);
      const kinds = [...FAILURES, harness.denied];
      const points = numbers(scene.world.points.call).flatMap((nth) => kinds.map((what) => ({ what, nth })));
      // In the short run each call that is taken fails in another way than the one before; those that hang take long.
      const shortStride = 2 * (harness.shortStride ?? USUAL_STRIDE) * kinds.length + 1;
      const stories = taken({ ...harness, shortStride }, points).map(({ what, nth }) => {
        const prepare: NonNullable<Twist>['prepare'] = ({ cloud }) =>
          void cloud.fake.failureRules.add({ what, after: nth - 1 });
        // Clouds that make a machine in several calls may refuse a later one, also of those that remove its parts.
        const isRefusal = ['throttle', 'garbage', 'error'].includes(what.kind);
        const leniency = isRefusal ? { isSlow: true, mayBeAnew: true } : what.kind === 'hang' ? { isSlow: true } : {};
        return [`${JSON.stringify(what)} at call ${nth}`, { prepare }, leniency] as const;
      });

      await expectAll(harness, stories);
    },
  },
  {
    id: 'late listing',
    name: 'a computer has one machine though the reply to its creation is lost and listings and boots take minutes',
    async check(_stage, harness) {
      const { creation: action } = harness;
      const scene = await openScene(harness, {
        lagMs: MINUTE_MS,
        bootMs: 2 * MINUTE_MS,
        prepare: ({ cloud }) => void cloud.fake.failureRules.add({ action, what: { kind: 'lost reply' } }),
      });
      await create(scene, 'dev');
      await scene.world.clock.advance(5 * MINUTE_MS);

      expect([statusIn(scene, 'dev'), machinesOf(scene).length]).toEqual(['running', 1]);
      expect(madeTwice(scene.world), 'machines made twice').toEqual([]);
      await expectRemoved(scene, 'dev', 4 * MINUTE_MS);
    },
  },
];
