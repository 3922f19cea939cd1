// What the cloud refuses, now or later, or never answers: the computer says so in its words, and nothing is left.
import { expect } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { CallFailure } from '#fakes/failure-rules.ts';
import {
  type ComputerLaw,
  type ComputerScene,
  type ComputerSuite,
  computersIn,
  create,
  everMade,
  expectNothingHeld,
  expectRemoved,
  impatient,
  machinesOf,
  openScene,
  rowOf,
  statusIn,
} from './computers-world.ts';

const FOR_EVER = 1e9;
const STEP_MS = 10_000;

const whyOf = (scene: ComputerScene): string => computersIn(scene).find('dev')?.why ?? '';
const eventsOf = ({ world }: ComputerScene, kind: string) =>
  world.disk.histories.events.filter((event) => event.kind === `computer.${kind}`);

async function refusing(harness: ComputerSuite, what: CallFailure, times: number): Promise<ComputerScene> {
  const { creation: action } = harness;
  const scene = await openScene(harness, {
    prepare: ({ cloud }) => void cloud.fake.failureRules.add({ action, what, times }),
  });
  await create(scene, 'dev');
  await scene.world.clock.advance(2 * MINUTE_MS);
  return scene;
}

/** What the cloud itself said. */
const wordsOf = (what: CallFailure): string => (what.kind === 'error' ? (what.message ?? what.code) : '');

export const REFUSAL_LAWS: readonly ComputerLaw[] = [
  {
    id: 'refused',
    name: 'a computer that its cloud refuses each time fails after the last try, in the words of the cloud',
    async check(_stage, harness) {
      for (const [kind, what] of harness.refusals) {
        const scene = await refusing(harness, what, FOR_EVER);
        const { maxRetries = 0, failure } = rowOf(scene, 'dev') ?? {};

        expect([statusIn(scene, 'dev'), failure?.kind], wordsOf(what)).toEqual(['error', kind]);
        expect(whyOf(scene)).toContain(`Failed after ${maxRetries} attempts: `);
        expect(whyOf(scene)).toContain(wordsOf(what));
        const retries = eventsOf(scene, 'retrying').map(({ message }) => message);
        expect(retries.map((message) => /\((\d+\/\d+)\)/.exec(message)?.[1])).toEqual(
          Array.from({ length: maxRetries - 1 }, (_, at) => `${at + 1}/${maxRetries}`),
        );
        expectNothingHeld(scene);
        await expectRemoved(scene, 'dev', MINUTE_MS);
      }
    },
  },
  {
    id: 'refused twice',
    name: 'a computer that its cloud refuses twice comes up as one machine',
    async check(_stage, harness) {
      for (const [, what] of harness.refusals) {
        const scene = await refusing(harness, what, 2);

        expect([statusIn(scene, 'dev'), whyOf(scene)], wordsOf(what)).toEqual(['running', '']);
        expect(machinesOf(scene)).toHaveLength(1);
        await expectRemoved(scene, 'dev', 2 * MINUTE_MS);
      }
    },
  },
  {
    id: 'late failure',
    name: 'a computer whose machine was promised and never came is launched again, and fails after the last try',
    async check(_stage, harness) {
      for (const count of [1, 3]) {
        const scene = await openScene(harness, { prepare: ({ cloud }) => cloud.refuseLate(count) });
        await create(scene, 'dev');
        await scene.world.clock.advance(4 * MINUTE_MS + 3 * (harness.refusedAfterMs ?? 0));

        const [status, machines] = count === 1 ? ['running', 1] : ['error', 0];
        expect([statusIn(scene, 'dev'), machinesOf(scene).length], `${count} promised and not made`).toEqual([
          status,
          machines,
        ]);
        if (status === 'error') {
          expect(whyOf(scene)).toContain('Failed after 3 attempts: ');
          expectNothingHeld(scene);
        }
        await expectRemoved(scene, 'dev', 2 * MINUTE_MS);
      }
    },
  },
  {
    id: 'time-out',
    name: 'a computer that does not run in time fails; its machine is deleted, and no other is made',
    async check(_stage, harness) {
      const { more, tooLongMs } = impatient(harness);
      const scene = await openScene(harness, { bootMs: HOUR_MS });
      await create(scene, 'dev', more);
      await scene.world.clock.advance(MINUTE_MS / 2);
      const before = [statusIn(scene, 'dev'), machinesOf(scene).length];
      await scene.world.clock.advance(tooLongMs);

      expect(before).toEqual(['starting', 1]);
      expect(statusIn(scene, 'dev')).toBe('error');
      expect(whyOf(scene)).toContain('Operation timed out after ');
      expect(everMade(scene)).toHaveLength(1);
      expectNothingHeld(scene);
      await expectRemoved(scene, 'dev', MINUTE_MS);
    },
  },
  {
    id: 'hanging cloud',
    name: 'a computer whose creation is carried out and never answered has at most one machine, and leaves nothing',
    async check(_stage, harness) {
      const { creation: action } = harness;
      const { more, tooLongMs } = impatient(harness);
      for (const done of [true, false]) {
        const scene = await openScene(harness, {
          prepare: ({ cloud }) =>
            void cloud.fake.failureRules.add({ action, what: { kind: 'hang', done }, times: FOR_EVER }),
        });
        await create(scene, 'dev', more);
        for (let passedMs = 0; passedMs < tooLongMs; passedMs += STEP_MS) {
          await scene.world.clock.advance(STEP_MS);
          expect(machinesOf(scene).length, 'machines at a time').toBeLessThanOrEqual(1);
        }
        const { maxRetries = 3 } = rowOf(scene, 'dev') ?? {};
        expect(everMade(scene).length, 'machines ever made').toBeLessThanOrEqual(harness.makesAnew ? maxRetries : 1);
        scene.world.cloud.fake.failureRules.clear();

        await expectRemoved(scene, 'dev', 6 * MINUTE_MS);
      }
    },
  },
];
