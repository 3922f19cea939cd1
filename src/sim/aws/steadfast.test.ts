import { describe, expect, it } from 'vitest';
import type { Mischance } from '#fakes/mishaps.ts';
import { stateAt } from '../../providers/aws/fake/ec2/instance.ts';
import { dropParameter, putParameter } from '../../providers/aws/parameters/testing.ts';
import { documentOf, keyOf } from './documents.ts';
import type { SourceEntry } from './life.ts';
import { type AwsWorld, openAwsWorld, PREFIX, REGION } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const POOLS = ['alpha', 'beta'];
const OTHER_PREFIX = '/other/pools/';
const SSM: SourceEntry = { name: 'ssm', region: REGION, prefix: PREFIX };

interface Scene {
  readonly world: AwsWorld;
  /** What AWS itself says of the machines that were there before the trouble. */
  states(): string[];
}

/** Two pools of one source, each with an idle worker; the first has a busy one beside it. */
async function openScene(sources: readonly SourceEntry[] = [SSM]): Promise<Scene> {
  const world = await openAwsWorld(undefined, { sources });
  for (const name of POOLS) putParameter(world.fake, keyOf(name), documentOf(name));
  await world.clock.advance(2 * MINUTE_MS);
  await world.life.sessions.submit(world.poolId('alpha') ?? '', 1, 3 * HOUR_MS);
  await world.clock.advance(2 * MINUTE_MS);
  const before = world.instances();
  expect(before).toHaveLength(3);
  return { world, states: () => before.map((one) => stateAt(one, world.clock.now())) };
}

const RUNNING = ['running', 'running', 'running'];

/** No machine of before has gone, none has come in its place, and the session still runs where it began. */
function expectUntouched({ world, states }: Scene): void {
  const { view } = world.life.store;
  expect(states()).toEqual(RUNNING);
  expect(world.instances()).toHaveLength(3);
  expect([...view.workers.all()].filter(({ drain, removal }) => drain || removal)).toEqual([]);
  expect([view.pools.size, view.workers.size]).toEqual([2, 3]);
  expect([...world.agents.runs.values()]).toEqual([1]);
  expect(world.fake.countOf('TerminateInstances') + world.fake.countOf('StopInstances')).toBe(0);
}

/** For that long, with a new process in the middle of it. */
async function expectSteadfast(scene: Scene, forMs = 20 * MINUTE_MS): Promise<void> {
  const { world } = scene;
  await world.clock.advance(forMs / 2);
  expectUntouched(scene);
  world.restart();
  await world.clock.advance(forMs / 2);
  expectUntouched(scene);
}

const troublesOf = ({ world }: Scene) => POOLS.map((name) => world.life.workers.trouble(world.poolId(name) ?? ''));

const heldOf = ({ world }: Scene, source = 'ssm') => world.life.store.view.sources.get(source)?.held?.why;

describe('no worker stops', () => {
  it('when a listing of the parameters fails on its second page', async () => {
    const scene = await openScene();
    const what: Mischance = { kind: 'error', code: 'InternalServerError', status: 500 };
    scene.world.fake.mishaps.add({
      action: 'GetParametersByPath',
      when: ({ body }) => body.NextToken !== undefined,
      times: 1e9,
      what,
    });

    await expectSteadfast(scene);
    expect(scene.world.life.store.view.sources.get('ssm')?.fault?.message).toContain('InternalServerError');
  });

  it('when a listing of the machines fails on its second page', async () => {
    const scene = await openScene();
    const what: Mischance = { kind: 'error', code: 'InternalError', status: 500 };
    scene.world.fake.mishaps.add({
      action: 'DescribeInstances',
      when: ({ body }) => body.NextToken !== undefined,
      times: 1e9,
      what,
    });

    await expectSteadfast(scene);
    expect(troublesOf(scene)).toEqual(POOLS.map(() => expect.stringContaining('InternalError')));
  });

  it('when the listing is empty', async () => {
    const scene = await openScene();
    for (const name of POOLS) dropParameter(scene.world.fake, keyOf(name));

    await expectSteadfast(scene);
    expect(heldOf(scene)).toBe('The last listings are empty; this source had 2 pools.');
    for (const name of POOLS) putParameter(scene.world.fake, keyOf(name), documentOf(name));
    await scene.world.clock.advance(2 * MINUTE_MS);
    expectUntouched(scene);
    expect(heldOf(scene)).toBeUndefined();
  });

  it.each([
    ['the prefix of a named source is mistyped', SSM, { ...SSM, prefix: '/velda/pool/' }],
    ['a named source reads another region', SSM, { ...SSM, region: 'eu-west-1' }],
    [
      'the prefix of a source without a name is mistyped',
      { region: REGION, prefix: PREFIX },
      { region: REGION, prefix: '/velda/pool/' },
    ],
    ['a source gets another name', SSM, { ...SSM, name: 'parameters' }],
  ] as const)('when %s, nor when that is put right', async (_what, before, after) => {
    const scene = await openScene([before]);
    await scene.world.setSources([after]);

    await expectSteadfast(scene);
    await scene.world.setSources([before]);
    await expectSteadfast(scene);
  });

  it('when the source is taken out of the file, nor when it returns', async () => {
    const scene = await openScene();
    await scene.world.setSources([]);

    await expectSteadfast(scene);
    expect(heldOf(scene)).toContain('no longer names this source');
    await scene.world.setSources([SSM]);
    await expectSteadfast(scene);
  });

  it.each(['put there first', 'taken away first'])('when a pool moves to another source, %s', async (order) => {
    const other: SourceEntry = { name: 'other', region: REGION, prefix: OTHER_PREFIX };
    const scene = await openScene([SSM, other]);
    const { fake } = scene.world;
    const put = () => putParameter(fake, keyOf('alpha', OTHER_PREFIX), documentOf('alpha'));
    const take = () => dropParameter(fake, keyOf('alpha'));
    for (const act of order === 'put there first' ? [put, take] : [take, put]) {
      act();
      await scene.world.clock.advance(15_000);
    }

    await expectSteadfast(scene);
    const owners = [...scene.world.life.store.view.pools.all()].map(({ name, owner }) => [name, owner.source]);
    expect(Object.fromEntries(owners)).toEqual({ alpha: 'other', beta: 'ssm' });
  });

  it.each<Mischance>([
    { kind: 'lost request' },
    { kind: 'hang' },
    { kind: 'throttle' },
    { kind: 'garbage' },
    { kind: 'error', code: 'UnauthorizedOperation', status: 403 },
  ])('in an hour of outage of AWS, nor after it ($kind)', async (what) => {
    const scene = await openScene();
    const end = scene.world.fake.mishaps.add({ times: 1e9, what });

    await expectSteadfast(scene, HOUR_MS);
    expect(troublesOf(scene)).toEqual(POOLS.map(() => expect.stringContaining('us-west-2')));
    end();
    await scene.world.clock.advance(20 * MINUTE_MS);
    expectUntouched(scene);
    expect(troublesOf(scene)).toEqual([undefined, undefined]);
    expect(scene.world.life.store.view.sources.get('ssm')?.fault).toBeUndefined();
  });
});
