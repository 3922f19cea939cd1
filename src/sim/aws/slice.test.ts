import { DeleteParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { describe, expect, it } from 'vitest';
import type { Mischance, WireCall } from '#fakes/mishaps.ts';
import { requestHandler } from '../../providers/aws/http.ts';
import { documentOf, keyOf } from './documents.ts';
import { type AwsWorld, openAwsWorld, type Point, REGION } from './world.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const NAME = keyOf('gpu-pool');
const DOCUMENT = documentOf('gpu-pool');

interface Run {
  readonly world: AwsWorld;
  /** How many were asked for in the middle of the story. */
  readonly accepted: number;
  readonly most: number;
  /** What was there before the parameter went. */
  readonly middle: { readonly workers: number; readonly machines: number };
}

/** A parameter comes, sessions run, the parameter goes. */
async function story(point?: Point, prepare: (world: AwsWorld) => void = () => {}): Promise<Run> {
  const world = await openAwsWorld(point);
  prepare(world);
  const ssm = new SSMClient({ region: REGION, requestHandler: requestHandler(world.fake.fetch) });
  let accepted = 0;
  let most = 0;
  const pass = async (ms: number): Promise<void> => {
    for (let passedMs = 0; passedMs < ms; passedMs += 5 * SECOND_MS) {
      await world.clock.advance(5 * SECOND_MS);
      most = Math.max(most, world.machines().length);
    }
  };
  await ssm.send(new PutParameterCommand({ Name: NAME, Value: DOCUMENT, Type: 'String' }));
  await pass(90 * SECOND_MS);
  const pool = world.poolId('gpu-pool');
  if (pool !== undefined) {
    world.life.sessions.submit(pool, 3, 20 * SECOND_MS).then(
      () => (accepted += 3),
      () => {},
    );
  }
  await pass(3 * MINUTE_MS);
  const middle = { workers: world.life.store.view.workers.size, machines: world.machines().length };
  await ssm.send(new DeleteParameterCommand({ Name: NAME }));
  await pass(2 * MINUTE_MS);
  return { world, accepted, most, middle };
}

function expectWhole({ world, accepted, most, middle }: Run): void {
  const ran = [...world.agents.runs.values()];
  expect(middle).toEqual({ workers: 1, machines: 1 });
  expect(most).toBeLessThanOrEqual(3);
  expect(ran.every((times) => times === 1)).toBe(true);
  expect(ran.length).toBeGreaterThanOrEqual(accepted);
  expect(world.agents.kills).toEqual([]);
  expect(world.machines()).toEqual([]);
  const { pools, workers, launches, sessions } = world.life.store.view;
  expect([pools.size, workers.size, launches.size, sessions.size]).toEqual([0, 0, 0, 0]);
}

async function expectAll(points: readonly { readonly name: string; run(): Promise<Run> }[]): Promise<void> {
  for (const { name, run } of points) {
    try {
      expectWhole(await run());
    } catch (thrown) {
      throw new Error(`${name}: ${(thrown as Error).message}`, { cause: thrown });
    }
  }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const BOTH = [false, true];

const crashesAt = (at: Point['at'], count: number) =>
  numbers(count).flatMap((nth) =>
    BOTH.map((isDone) => {
      const point: Point = { at, nth, isDone };
      return { name: `dropped at ${JSON.stringify(point)}`, run: () => story(point) };
    }),
  );

/** Not the calls by which the story itself writes parameters. */
const isOurs = ({ action }: WireCall): boolean => action !== 'PutParameter' && action !== 'DeleteParameter';

const mishapsAt = (what: Mischance, count: number) =>
  numbers(count).map((nth) => ({
    name: `${what.kind} at call ${nth}`,
    run: () => story(undefined, ({ fake }) => void fake.mishaps.add({ what, after: nth - 1, when: isOurs })),
  }));

describe('a pool from Parameter Store on EC2', () => {
  it('comes, works and goes', async () => {
    const run = await story();

    expectWhole(run);
    expect([run.accepted, run.most]).toEqual([3, 3]);
  });

  it('does so wherever the server is dropped: at every commit, durable or not', async () => {
    const { world } = await story();

    expect(world.counts.write).toBeGreaterThan(12);
    await expectAll(crashesAt('write', world.counts.write));
  }, 120_000);

  it('and at every call to AWS, heard or not', async () => {
    const { world } = await story();

    expect(world.counts.call).toBeGreaterThan(30);
    await expectAll(crashesAt('call', world.counts.call));
  }, 120_000);

  it('and when any one reply is lost', async () => {
    const { world } = await story();

    await expectAll(mishapsAt({ kind: 'lost reply' }, world.counts.call));
  }, 120_000);

  it('and when capacity is refused late', async () => {
    await expectAll(
      numbers(3).map((times) => ({
        name: `${times} promised and not made`,
        run: () => story(undefined, ({ fake }) => void fake.region(REGION).stock.late.set('p3.2xlarge', times)),
      })),
    );
  });
});
