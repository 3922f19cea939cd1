// A simulated AWS whose machines boot, beside a server of a test.
import { DeleteParameterCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { TestContext } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { isOver } from '../../../src/providers/aws/fake/ec2/instance.ts';
import { type FakeAws, openFakeAws } from '../../../src/providers/aws/fake/fake-aws.ts';
import { GPU_BACKEND } from '../../../src/providers/aws/fake/seed-data.ts';
import { serve } from '../../../src/providers/aws/fake/serve.ts';
import type { World } from './world.ts';

export const REGION = 'us-west-2';
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-nobody', AWS_REGION: REGION };

type Tree = Readonly<Record<string, unknown>>;

/** The seed's gpu-pool. */
export function gpuPool(more: Tree = {}, scaler: Tree = {}): Tree {
  const backend = {
    aws_launch_template: { region: REGION, ...GPU_BACKEND, ...more },
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
  return { auto_scaler, name: 'gpu-pool' };
}

export interface ServedAws {
  readonly fake: FakeAws;
  /** For the server. */
  readonly env: Readonly<Record<string, string>>;
  put(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Instances that exist, past any client. */
  alive(): string[];
}

export async function serveAws(context: TestContext, world: World): Promise<ServedAws> {
  const behaviour = { bootMs: 200, stopMs: 200, terminateMs: 200, spotNoticeMs: 20_000 };
  const fake = openFakeAws({ clock: systemClock, random: systemRandom, behaviour });
  const aws = await serve(fake, { boots: true, folder: world.path('ec2') });
  context.onTestFinished(() => aws.close());
  const credentials = { accessKeyId: KEYS.AWS_ACCESS_KEY_ID, secretAccessKey: KEYS.AWS_SECRET_ACCESS_KEY };
  const ssm = new SSMClient({ region: REGION, endpoint: aws.address, credentials });
  return {
    fake,
    env: { ...KEYS, AWS_ENDPOINT_URL: aws.address },
    async put(Name, Value) {
      await ssm.send(new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true }));
    },
    async remove(Name) {
      await ssm.send(new DeleteParameterCommand({ Name }));
    },
    alive: () => fake.machines(REGION).flatMap((one) => (isOver(one, systemClock.now()) ? [] : [one.id])),
  };
}
