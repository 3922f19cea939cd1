import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { NodeGroup } from '#core/node-group.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { openFakeGcp } from '../../src/providers/gcp/fake/fake-gcp.ts';
import { serveGcp } from '../../src/providers/gcp/fake/serve.ts';
import gcp from '../../src/providers/gcp/index.ts';
import { npmClients } from './parts/npm-clients.ts';
import { needed } from './parts/part.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-compute-nodes.mjs');
const PROJECT = 'my-project';
const going = (): AbortSignal => new AbortController().signal;

test("Google's own client makes groups and resize requests in the simulated Compute Engine, and reads those of Muster", async (context) => {
  const { folder } = needed(context, await npmClients('google', ['@google-cloud/compute@7.8.0']));
  const fake = openFakeGcp(systemClock);
  const { compute } = fake.world;
  Object.assign(compute.behaviour, { bootMs: 300, endMs: 200, lagMs: 0, pageSize: 2 });
  const served = await serveGcp(fake, { port: 0 });
  context.onTestFinished(() => served.close());
  const { address } = served;
  const parts: Context = {
    cluster: 'cluster1',
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    fetch,
    shared: openShared(),
    dataDir: '/nowhere',
    agentCommand: [],
    variable: (name) => (name === 'CLOUDSDK_AUTH_DISABLE_CREDENTIALS' ? 'true' : `${address}/compute/v1/`),
  };
  const { gce } = gcp.nodeGroups;
  const groupTemplates = { h100: { zone: 'us-central1-a', instanceTemplate: 'h100-nodes-v1' } };
  const groups = await gce.open(gce.config.parse({ project: PROJECT, groupTemplates }), parts);
  const wanted = { name: 'h100-made', template: 'h100', provisioner: 'h100' };
  const group = (await groups.create?.(wanted, going())) as NodeGroup;
  const growth = { count: 1, to: 2 };
  await group.grow({ ...growth, id: 'g1', names: ['h100-made-a'] }, going());
  compute.isQueueHeld = true;
  await group.grow({ ...growth, id: 'g2', names: ['h100-made-b'], runForMs: 7_200_000 }, going());
  let state = await group.describe(going());
  while (state.instances[0]?.state !== 'running') {
    await systemClock.sleep(100, going());
    state = await group.describe(going());
  }

  const ran = await run(process.execPath, [DRIVE, folder, address, PROJECT, 'h100-made'], {
    env: { ...process.env } as Record<string, string>,
  });

  expect(ran.code, complaintOf(ran)).toBe(0);
  const { ours, driven } = JSON.parse(ran.out);
  // What we send means to Google's client what we mean.
  expect(ours).toEqual({
    description: 'Made by Muster cluster1 for the NodeProvisioner h100.',
    targetSize: 2,
    repair: null,
    labels: { 'muster-node-labels': 'nodeprovisioner.compute.baseten.co/provisioner-name=h100' },
    request: ['h100-made-b', 'ACCEPTED', ['h100-made-b'], 7_200],
    running: ['h100-made-a', 'RUNNING'],
  });
  expect(driven).toEqual({
    template: ['a3-highgpu-8g', 1],
    gpus: [['nvidia-h100-80gb', 8]],
    inUse: [400, expect.stringContaining('already being used')],
    both: 400,
    taken: 409,
    accepted: ['ref-counted', 'ref-named'],
    early: 400,
    targetSize: 0,
    gone: 404,
  });
});
