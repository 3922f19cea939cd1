import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { poolSubject } from '#core/reason.ts';
import { documentOf } from '#sim/slice/cloud.ts';
import { openSliceWorld, type SliceWorld } from '#sim/slice/world.ts';
import type { FakeAws } from '../fake-aws.ts';
import { SEED_DATA } from '../seed-data.ts';
import { AWS_SLICE, fakesOf, REGION } from './testing.ts';

type Tree = Readonly<Record<string, unknown>>;

interface AwsWorld extends SliceWorld {
  readonly fake: FakeAws;
}

async function openAwsWorld(isLimited = false): Promise<AwsWorld> {
  const world = await openSliceWorld(AWS_SLICE, isLimited ? { pageSize: 1_000, isLimited } : {});
  return Object.assign(world, { fake: fakesOf.get(world.cloud) as FakeAws });
}

/** A pool in trouble, and beside it a good one with one idle worker. */
async function openScene(world: AwsWorld, backend: Tree = {}): Promise<{ readonly bad: string }> {
  world.documents.write('pools', 'good', documentOf(AWS_SLICE, 'good'));
  await world.clock.advance(2 * MINUTE_MS);
  world.documents.write('pools', 'bad', documentOf(AWS_SLICE, 'bad', { backend }));
  await world.clock.advance(MINUTE_MS);
  return { bad: world.poolId('bad') ?? '' };
}

/** What `pool show`, `pool plan` and `pool why` say of it. */
function expectSaid(world: AwsWorld, pool: string, { cause, remedy }: { cause: string; remedy: string }): void {
  const { workers, journal } = world.life;
  const said = {
    show: workers.trouble(pool)?.message,
    plan: workers.plan(pool).why,
    why: journal.lastDecision(poolSubject(pool))?.decision.why,
  };
  for (const line of Object.values(said)) {
    expect(line).toContain(cause);
    expect(line).toContain(remedy);
    expect(line).not.toContain('\n');
  }
}

async function expectGoesOn(world: AwsWorld, name: string): Promise<void> {
  const before = world.agents.runs.size;
  await world.life.submit(name, 2, SECOND_MS);
  await world.clock.advance(MINUTE_MS);
  expect(world.agents.runs.size).toBe(before + 2);
  expect(world.life.store.view.sessions.size).toBe(0);
  expect(world.life.workers.trouble(world.poolId(name) ?? '')).toBeUndefined();
}

describe('a pool that gets no machines says why, and what to do', () => {
  it('where the role has no right to launch; with the right it launches by itself', async () => {
    const world = await openAwsWorld();
    world.fake.principals.deny('ec2:RunInstances');
    const { bad } = await openScene(world);

    expectSaid(world, bad, {
      cause: 'denied: ec2:RunInstances in us-west-2 failed: UnauthorizedOperation',
      remedy: "Allow the server's role the action ec2:RunInstances.",
    });
    world.fake.principals.allow('ec2:RunInstances');
    await world.clock.advance(2 * MINUTE_MS);
    await expectGoesOn(world, 'bad');
  });

  it('where the role has no right to list', async () => {
    const world = await openAwsWorld();
    world.fake.principals.deny('ec2:DescribeInstances');
    const { bad } = await openScene(world);

    expectSaid(world, bad, {
      cause: 'denied: ec2:DescribeInstances in us-west-2 failed: UnauthorizedOperation',
      remedy: "Allow the server's role the action ec2:DescribeInstances.",
    });
    world.fake.principals.allow('ec2:DescribeInstances');
    await world.clock.advance(3 * MINUTE_MS);
    await expectGoesOn(world, 'bad');
  });

  it('where there is no such region', async () => {
    const world = await openAwsWorld();
    world.fake.failureRules.add({ region: 'us-west-9', times: 1e9, what: { kind: 'no such host' } });
    const { bad } = await openScene(world, { region: 'us-west-9' });

    expectSaid(world, bad, {
      cause: 'unavailable: ec2:DescribeInstances in us-west-9 got no answer',
      remedy: 'Check the region: us-west-9 has no such endpoint.',
    });
    await expectGoesOn(world, 'good');
  });

  it('where what it names is in another region', async () => {
    const world = await openAwsWorld();
    const { templates } = world.fake.region('eu-west-1');
    templates.clear();
    const { bad } = await openScene(world, { region: 'eu-west-1' });

    expectSaid(world, bad, {
      cause: 'in eu-west-1 failed: InvalidLaunchTemplateName.NotFoundException',
      remedy: 'Create the launch template in this region, or correct launch_template_name.',
    });
    await expectGoesOn(world, 'good');
  });

  it('where the launch template was deleted', async () => {
    const world = await openAwsWorld();
    const { templates } = world.fake.region(REGION);
    for (const { id, name } of templates.values()) if (name === SEED_DATA.cpuTemplate) templates.delete(id);
    const { bad } = await openScene(world, { launch_template_name: SEED_DATA.cpuTemplate });

    expectSaid(world, bad, {
      cause: 'missing: ec2:DescribeLaunchTemplateVersions in us-west-2 failed',
      remedy: 'Create the launch template in this region, or correct launch_template_name.',
    });
    await expectGoesOn(world, 'good');
  });

  it('where the quota is used up', async () => {
    const world = await openAwsWorld();
    world.fake.region(REGION).stock.vcpus.set('standard', 0);
    const { bad } = await openScene(world, { instance_type: 'c5.4xlarge' });

    expectSaid(world, bad, {
      cause: 'quota: ec2:RunInstances in us-west-2 failed: VcpuLimitExceeded',
      remedy: 'Raise the vCPU quota of this family in Service Quotas, or lower max_agents.',
    });
    await expectGoesOn(world, 'good');
  });
});

it('asks for more than EC2 starts at once as fast as EC2 allows, and is never refused', async () => {
  const world = await openAwsWorld(true);
  const scaler = { max_agents: 1_020, min_idle_agents: 0, max_idle_agents: 0, idle_decay: '0s' };
  world.documents.write('pools', 'gpu-pool', documentOf(AWS_SLICE, 'gpu-pool', { scaler }));
  await world.clock.advance(MINUTE_MS);

  await world.life.submit('gpu-pool', 1_020, 10 * MINUTE_MS);
  // Two machines a second come back into the bucket of a thousand.
  await world.clock.advance(15_000);

  const { view } = world.life.store;
  expect([world.machines().length, view.workers.size]).toEqual([1_020, 1_020]);
  // Until EC2 has started each.
  await world.clock.advance(MINUTE_MS);
  expect(view.launches.size).toBe(0);
  expect(world.fake.calls.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
});
