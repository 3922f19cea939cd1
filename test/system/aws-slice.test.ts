// Parameter Store → EC2 → agent → session, with the real server, and machines that boot from their user data.
import { describe, expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { stateAt } from '../../src/providers/aws/fake/ec2/instance.ts';
import type { FakeAws } from '../../src/providers/aws/fake/fake-aws.ts';
import { type Api, apiOf } from './harness/api.ts';
import { gpuPool as gpuPoolTree, REGION, type ServedAws, serveAws } from './harness/aws.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

/** As Terraform's jsonencode writes it. */
const gpuPool = (...parts: Parameters<typeof gpuPoolTree>): string => JSON.stringify(gpuPoolTree(...parts));

const stateOf = (fake: FakeAws, id: string): string | undefined => {
  const found = fake.machines(REGION).find((one) => one.id === id);
  return found && stateAt(found, systemClock.now());
};

interface Slice extends ServedAws {
  readonly world: World;
  readonly api: Api;
}

async function openSlice(context: TestContext): Promise<Slice> {
  const world = openWorld(context);
  const aws = await serveAws(context, world);
  const place = await placeServer(world, {
    provisioners: [{ aws: { region: REGION, config_prefix: '/velda/pools/', update_interval: '1s' } }],
  });
  await startServer(world, place, aws.env).ready();
  return { ...aws, world, api: apiOf(world, place.http) };
}

const RUN = ['run', '--pool', 'gpu-pool', '--'];

describe.concurrent('a pool from Parameter Store', () => {
  test('has machines that boot from their user data and run sessions, and goes with its parameter', async (context) => {
    const { world, api, put, remove, alive } = await openSlice(context);

    await put('/velda/pools/gpu-pool', gpuPool());
    await until('it is a pool', () => api.pool('gpu-pool'));
    const ran = await runCli(world, [...RUN, 'echo', 'on EC2']);
    const shown = await api.pool('gpu-pool');
    const during = alive().length;
    await remove('/velda/pools/gpu-pool');
    await until('it is removed', async () => (await api.events('pool.removed')).length > 0);

    expect(ran).toMatchObject({ code: 0, out: 'on EC2\n' });
    expect(shown.owner).toMatchObject({ key: '/velda/pools/gpu-pool', version: '1' });
    expect(during).toBe(1);
    expect(alive()).toEqual([]);
  });

  test('replaces a spot machine as soon as that hears that it will be taken back', async (context) => {
    const { world, api, fake, put, alive } = await openSlice(context);
    await put('/velda/pools/gpu-pool', gpuPool({ market: 'spot' }, { min_idle_agents: 1 }));
    const [first = ''] = await until('its machine has joined', async () => {
      const idle = (await api.workers()).filter(({ phase }) => phase === 'idle');
      return idle.length > 0 && alive();
    });

    fake.interrupt(first);
    const events = await until('it drains', async () => {
      const found = await api.events('worker.draining');
      return found.length > 0 && found;
    });
    const ran = await runCli(world, [...RUN, 'echo', 'on another']);

    expect(events[0]?.message).toBe('Draining: the cloud reclaims its machine (terminate).');
    expect(ran).toMatchObject({ code: 0, out: 'on another\n' });
    expect(alive().length).toBeGreaterThan(0);
  });

  test('stops idle machines and wakes them for the next session, where it keeps some', async (context) => {
    const { world, api, fake, put, alive } = await openSlice(context);
    const parked = async (): Promise<boolean> => (await api.workers()).some(({ phase }) => phase === 'parked');
    await put('/velda/pools/gpu-pool', gpuPool({ max_stopped_instances: 1 }, { max_idle_agents: 0, idle_decay: '0s' }));
    await until('it is a pool', () => api.pool('gpu-pool'));

    const first = await runCli(world, [...RUN, 'echo', 'first']);
    await until('its machine is parked', parked);
    await until('it stands still', () => alive().every((id) => stateOf(fake, id) === 'stopped'));
    const [machine] = alive();
    const listings = fake.countOf('DescribeInstances');
    await until('the server has seen that', () => fake.countOf('DescribeInstances') > listings + 1);
    const second = await runCli(world, [...RUN, 'echo', 'second']);

    expect([first.out, second.out]).toEqual(['first\n', 'second\n']);
    expect(alive()).toEqual([machine]);
  });
});
