import { EC2Client, RunInstancesCommand, type Tag } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import { type Instance, stateAt } from '../../providers/aws/fake/ec2/instance.ts';
import { FURNITURE } from '../../providers/aws/fake/furniture.ts';
import { requestHandler } from '../../providers/aws/http.ts';
import { dropParameter, putParameter } from '../../providers/aws/parameters/testing.ts';
import { documentOf, keyOf } from './documents.ts';
import { type AwsWorld, openAwsWorld, REGION } from './world.ts';

const MINUTE_MS = 60_000;
/** Whatever is listed and not known would be killed at once. */
const STERN = { scaler: { kill_unknown_after: '1s' } };

const idsOf = (instances: readonly Instance[]): string[] => instances.map(({ id }) => id).toSorted();

const ofPool = (world: AwsWorld, name: string): string[] =>
  idsOf(world.instances().filter(({ tags }) => tags.get('muster:pool') === world.poolId(name)));

/** A machine that somebody else starts in the account. */
async function startByHand({ fake }: AwsWorld, tags: Readonly<Record<string, string>>): Promise<string> {
  const ec2 = new EC2Client({ region: REGION, requestHandler: requestHandler(fake.fetch) });
  const Tags: Tag[] = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const { Instances = [] } = await ec2.send(
    new RunInstancesCommand({
      ImageId: FURNITURE.image,
      InstanceType: 'p3.2xlarge',
      MinCount: 1,
      MaxCount: 1,
      TagSpecifications: [{ ResourceType: 'instance', Tags }],
    }),
  );
  return Instances[0]?.InstanceId ?? '';
}

/** What was ever asked of AWS about these machines by name. */
function callsAbout({ fake }: AwsWorld, ids: readonly string[]): string[] {
  const named = fake.calls.filter(({ parameters }) => ids.some((id) => JSON.stringify(parameters).includes(id)));
  return named.map(({ action }) => action);
}

describe('machines in one account', () => {
  it('of two pools with equal definitions are never taken for one another', async () => {
    const world = await openAwsWorld();
    for (const name of ['one', 'two']) putParameter(world.fake, keyOf(name), documentOf(name, STERN));
    await world.clock.advance(2 * MINUTE_MS);
    const [one, two] = [ofPool(world, 'one'), ofPool(world, 'two')];
    const { view } = world.life.store;
    const counts = ['one', 'two'].map((name) => view.workers.count('pool', world.poolId(name) ?? ''));

    dropParameter(world.fake, keyOf('one'));
    await world.clock.advance(5 * MINUTE_MS);

    expect(one).toHaveLength(1);
    expect(two).toHaveLength(1);
    expect(counts).toEqual([1, 1]);
    expect(idsOf(world.instances())).toEqual(two);
    expect(callsAbout(world, two)).toEqual([]);
  });

  it('of two clusters are never seen by one another', async () => {
    const first = await openAwsWorld();
    const second = await openAwsWorld(undefined, { beside: first, cluster: 'cluster2', seed: 1_000 });
    putParameter(first.fake, keyOf('gpu-pool'), documentOf('gpu-pool', STERN));
    await first.clock.advance(2 * MINUTE_MS);
    const [ours, theirs] = [idsOf(first.instances()), idsOf(second.instances())];
    const workers = [first, second].map(({ life }) => life.store.view.workers.size);

    await second.setSources([{ region: REGION, prefix: '/nowhere/' }]);
    await first.clock.advance(2 * MINUTE_MS);
    await second.life.pools.approve('aws:us-west-2:/velda/pools/', { who: 'test', from: 'here' });
    await first.clock.advance(5 * MINUTE_MS);

    expect([ours.length, theirs.length]).toEqual([1, 1]);
    expect(workers).toEqual([1, 1]);
    expect(idsOf(second.instances())).toEqual([]);
    expect(idsOf(first.instances())).toEqual(ours);
    expect(callsAbout(first, ours)).toEqual([]);
  });

  it('without our whole mark are never listed, stopped or terminated', async () => {
    const world = await openAwsWorld();
    const whole = { 'muster:pool': 'p', 'muster:shape': 's', 'muster:name': 'gpu-pool-x' };
    const strangers = [
      await startByHand(world, {}),
      await startByHand(world, { Name: 'velda-gpu-workers-gpu-pool' }),
      await startByHand(world, whole),
      await startByHand(world, { ...whole, 'muster:cluster': 'cluster9' }),
      await startByHand(world, { 'muster:cluster': 'cluster1' }),
    ];
    putParameter(world.fake, keyOf('gpu-pool'), documentOf('gpu-pool', STERN));
    await world.clock.advance(10 * MINUTE_MS);
    world.restart();
    await world.clock.advance(10 * MINUTE_MS);
    const during = world.life.store.view.workers.size;
    dropParameter(world.fake, keyOf('gpu-pool'));
    await world.clock.advance(10 * MINUTE_MS);

    const nowMs = world.clock.now();
    const states = world.fake
      .machines(REGION)
      .flatMap((one) => (strangers.includes(one.id) ? stateAt(one, nowMs) : []));
    expect(states).toEqual(strangers.map(() => 'running'));
    expect(during).toBe(1);
    expect(world.life.store.view.workers.size).toBe(0);
    expect(world.fake.countOf('TerminateInstances')).toBeGreaterThan(0);
    expect(callsAbout(world, strangers)).toEqual([]);
  });
});
