// Bucket → Compute Engine → agent → session, with the real server, and machines that boot from their startup script.
import { describe, expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { preempt } from '../../src/providers/gcp/fake/compute/group.ts';
import { type FakeInstance, isLiving } from '../../src/providers/gcp/fake/compute/instance.ts';
import { openFakeGcp } from '../../src/providers/gcp/fake/fake-gcp.ts';
import { serveGcp } from '../../src/providers/gcp/fake/serve.ts';
import { type FakeBucket, openBucket } from '../../src/providers/gcp/fake/storage/bucket.ts';
import { type Api, apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

const BUCKET = 'velda-pool-configs';
const KEY = 'pools/team/my-pool.json';

interface Slice {
  readonly world: World;
  readonly api: Api;
  readonly bucket: FakeBucket;
  preempt(instance: FakeInstance): void;
  alive(): readonly FakeInstance[];
}

async function openSlice(context: TestContext): Promise<Slice> {
  const world = openWorld(context);
  const fake = openFakeGcp(systemClock);
  const { compute, storage } = fake.world;
  Object.assign(compute.behaviour, { bootMs: 500, endMs: 200 });
  const bucket = openBucket(BUCKET, systemClock);
  storage.buckets.set(BUCKET, bucket);
  const served = await serveGcp(fake, { port: 0 }, true);
  context.onTestFinished(() => served.close());
  const place = await placeServer(world, {
    provisioners: [{ gcs: { bucket: BUCKET, config_prefix: 'pools/', update_interval: '1s' } }],
  });
  await startServer(world, place, {
    STORAGE_EMULATOR_HOST: served.address,
    CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${served.address}/compute/v1/`,
    CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
  }).ready();
  return {
    world,
    api: apiOf(world, place.http),
    bucket,
    preempt: (instance) => preempt(compute, instance),
    alive: () => compute.instances.filter((one) => isLiving(one, systemClock.now())),
  };
}

/** As Terraform's jsonencode writes it. */
function documentOf(group: string, scaling: object = {}): string {
  const backend = { gce_instance_group: { instance_group: group, project: 'my-project', zone: 'us-central1-a' } };
  return JSON.stringify({ auto_scaler: { backend, max_agents: 10, ...scaling }, name: 'my-pool' });
}

const RUN = ['run', '--pool', 'my-pool', '--'];

describe.concurrent('a pool from a bucket', () => {
  test('has machines that find the broker from their startup script and run sessions, and goes with its object', async (context) => {
    const { world, api, bucket, alive } = await openSlice(context);

    const { generation } = bucket.put(KEY, documentOf('velda-workers'));
    await until('it is a pool', () => api.pool('my-pool'));
    const ran = await runCli(world, [...RUN, 'echo', 'on Compute Engine']);
    const shown = await api.pool('my-pool');
    bucket.remove(KEY);
    await until('its machine is deleted', () => alive().length === 0);

    expect(ran).toMatchObject({ code: 0, out: 'on Compute Engine\n' });
    expect(shown.owner).toMatchObject({ key: KEY, version: generation });
  });

  test('replaces a spot machine as soon as that hears that it will be preempted', async (context) => {
    const { world, api, bucket, preempt: take, alive } = await openSlice(context);
    bucket.put(KEY, documentOf('velda-spot', { min_idle_agents: 1, max_idle_agents: 1 }));
    const [first] = await until('its machine has joined', async () => {
      const idle = (await api.workers()).filter(({ phase }) => phase === 'idle');
      return idle.length > 0 && alive();
    });

    take(first as FakeInstance);
    const events = await until('it drains', async () => {
      const found = await api.events('worker.draining');
      return found.length > 0 && found;
    });
    const ran = await runCli(world, [...RUN, 'echo', 'on another']);

    expect(events[0]?.message).toMatch(/^Draining: the cloud reclaims its machine/);
    expect(ran).toMatchObject({ code: 0, out: 'on another\n' });
  });
});
