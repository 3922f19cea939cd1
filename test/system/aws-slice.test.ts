// Parameter Store → EC2 → agent → session, with the real server, and machines that boot from their user data.
import { DeleteParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { describe, expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { isOver, stateAt } from '../../src/providers/aws/fake/ec2/instance.ts';
import { type FakeAws, openFakeAws } from '../../src/providers/aws/fake/fake-aws.ts';
import { FURNITURE } from '../../src/providers/aws/fake/furniture.ts';
import { serve } from '../../src/providers/aws/fake/serve.ts';
import { type Api, apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, type RunningServer, startServer } from './harness/server.ts';
import { until } from './harness/until.ts';
import { openWorld, type World } from './harness/world.ts';

const REGION = 'us-west-2';
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-nobody', AWS_REGION: REGION };

/** The document of the seed's gpu-pool, as Terraform's jsonencode writes it. */
function gpuPool(more: Readonly<Record<string, unknown>> = {}, scaler: Readonly<Record<string, unknown>> = {}): string {
  const backend = {
    aws_launch_template: {
      ami_id: FURNITURE.image,
      instance_type: 'p3.2xlarge',
      launch_template_name: FURNITURE.gpuTemplate,
      region: REGION,
      security_group_ids: [FURNITURE.group],
      subnet_id: FURNITURE.subnets[0],
      ...more,
    },
  };
  const auto_scaler = {
    backend,
    max_agents: 20,
    min_idle_agents: 0,
    max_idle_agents: 1,
    idle_decay: '1h',
    sync_loop_interval: '1s',
    ...scaler,
  };
  return JSON.stringify({ auto_scaler, name: 'gpu-pool' });
}

const stateOf = (fake: FakeAws, id: string): string | undefined => {
  const found = fake.machines(REGION).find((one) => one.id === id);
  return found && stateAt(found, systemClock.now());
};

interface Slice {
  readonly world: World;
  readonly fake: FakeAws;
  readonly api: Api;
  readonly server: RunningServer;
  readonly env: Readonly<Record<string, string>>;
  put(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Instances that exist, past any client. */
  alive(): string[];
}

async function openSlice(context: TestContext): Promise<Slice> {
  const world = openWorld(context);
  const behaviour = { bootMs: 200, stopMs: 200, terminateMs: 200, spotNoticeMs: 20_000 };
  const fake = openFakeAws({ clock: systemClock, random: systemRandom, behaviour });
  const aws = await serve(fake, { boots: true, folder: world.path('ec2') });
  context.onTestFinished(() => aws.close());
  const env = { ...KEYS, AWS_ENDPOINT_URL: aws.address };
  const place = await placeServer(world, {
    provisioners: [{ aws: { region: REGION, config_prefix: '/velda/pools/', update_interval: '1s' } }],
  });
  const server = await startServer(world, place, env).ready();
  const ssm = new SSMClient({
    region: REGION,
    endpoint: aws.address,
    credentials: { accessKeyId: KEYS.AWS_ACCESS_KEY_ID, secretAccessKey: KEYS.AWS_SECRET_ACCESS_KEY },
  });
  return {
    world,
    fake,
    api: apiOf(world, place.http),
    server,
    env,
    async put(Name, Value) {
      await ssm.send(new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true }));
    },
    async remove(Name) {
      await ssm.send(new DeleteParameterCommand({ Name }));
    },
    alive: () => fake.machines(REGION).flatMap((one) => (isOver(one, systemClock.now()) ? [] : [one.id])),
  };
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
    await until('it is removed', async () => (await api.events('pool.removed')).length > 0, 45_000);

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

    expect(events[0]?.message).toBe('Draining: the cloud takes its machine back (terminate).');
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
    const second = await runCli(world, [...RUN, 'echo', 'second']);

    expect([first.out, second.out]).toEqual(['first\n', 'second\n']);
    expect(alive()).toEqual([machine]);
  });
});
