import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Backend, Context, Launch, PendingCreate } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { openFakeGcp } from '../../src/providers/gcp/fake/fake-gcp.ts';
import { serveGcp } from '../../src/providers/gcp/fake/serve.ts';
import gcp from '../../src/providers/gcp/index.ts';
import { npmClients } from './parts/npm-clients.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-compute.mjs');
const DRIVE_PYTHON = join(import.meta.dirname, 'parts', 'drive-compute.py');
const PROJECT = 'my-project';
const ZONE = 'us-central1-a';
const GROUPED = 'm-gpu-grouped';
const OWN = 'm-gpu-own';
const going = (): AbortSignal => new AbortController().signal;

const launchOf = (name: string): Launch => ({
  id: `launch-${name}`,
  mark: { cluster: 'cluster1', use: 'worker', owner: 'pool1', shape: 's1' },
  names: [name],
  boot: { agentConfig: 'pool: gpu\n', token: 'mlt_x' },
  askedAt: 0,
});

/** Creates, and checks until nothing is pending. */
async function made(backend: Backend, launch: Launch): Promise<void> {
  let outcomes = await backend.create(launch, going());
  while (outcomes.some(({ operation }) => operation !== undefined)) {
    await systemClock.sleep(100, going());
    outcomes = (await backend.check?.(outcomes as PendingCreate[], going())) ?? [];
  }
}

/** A served Compute Engine with two machines of Muster: in the group, and beside it. */
async function serveWithMachines({ onTestFinished }: TestContext) {
  const fake = openFakeGcp(systemClock);
  const { compute } = fake.world;
  Object.assign(compute.behaviour, { bootMs: 300, endMs: 200, lateMs: 100, lagMs: 0, pageSize: 2 });
  const served = await serveGcp(fake, { port: 0 });
  onTestFinished(() => served.close());
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
  const { gce_instance: single, gce_instance_group: grouped } = gcp.backends;
  const place = { project: PROJECT, zone: ZONE };
  const group = await grouped.open(grouped.config.parse({ ...place, instanceGroup: 'velda-workers' }), parts);
  const more = { machineType: 'e2-standard-4', provisioningModel: 'spot', labels: { team: 'ml' } };
  const instances = await single.open(single.config.parse({ ...place, ...more }), parts);
  await made(group, launchOf(GROUPED));
  await made(instances, launchOf(OWN));
  return { fake, address };
}

test("Google's own client makes, lists, stops and deletes instances of the simulated Compute Engine", async (context) => {
  const { folder } = needed(context, await npmClients('google', ['@google-cloud/compute@7.8.0']));
  const { fake, address } = await serveWithMachines(context);
  fake.world.compute.stock.set(`n2-standard-8 ${ZONE}`, 1);

  const ran = await run(process.execPath, [DRIVE, folder, address, PROJECT, GROUPED, OWN], {
    env: { ...process.env } as Record<string, string>,
  });

  expect(ran.code, complaintOf(ran)).toBe(0);
  const seen = JSON.parse(ran.out);
  expect(seen.group).toEqual({
    template: 'velda-workers-v1',
    isSameOperation: true,
    made: ['NONE', { who: 'referee' }, 'string'],
    twice: [409, expect.stringContaining('already exists')],
    listed: [GROUPED, 'ref-a', 'ref-b'],
    // What we send means to Google's client what we mean.
    ours: { action: 'NONE', keys: ['muster_mark', 'startup-script'] },
    targetSize: 1,
    redistribution: 'NONE',
    noGroup: [404, expect.stringContaining('was not found')],
  });
  expect(seen.instances).toEqual({
    short: [[`zones/${ZONE}`, 2, 1]],
    none: ['ZONE_RESOURCE_POOL_EXHAUSTED', 503],
    listed: ['ref-1'],
    found: [`zones/${ZONE} ${OWN}`],
    stopped: 'TERMINATED',
    gone: [404, expect.stringContaining('was not found')],
    badType: [400, expect.stringContaining('e2-nothing')],
    image: 'debian-12-bookworm-v20261110',
    zones: expect.arrayContaining([ZONE]),
    isSame: true,
    ours: {
      labels: ['muster-cluster', 'muster-pool', 'muster-shape', 'team'],
      machineType: 'e2-standard-4',
      status: 'RUNNING',
      spot: 'SPOT',
      created: true,
      address: expect.stringMatching(/^10\./),
    },
  });
});

test("Google's client for Python makes, pages and deletes instances, alone and in a group, and reads what Muster made", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const { fake, address } = await serveWithMachines(context);
  // From here on it asks who calls.
  fake.world.storage.isOpen = false;
  const token = fake.world.granted.give('referee');

  const ran = await run(program('python'), [DRIVE_PYTHON, address, token, GROUPED, OWN], {
    env: { ...process.env } as Record<string, string>,
  });

  expect(ran.code, complaintOf(ran)).toBe(0);
  const { group, instances } = JSON.parse(ran.out);
  expect(group).toEqual({
    listed: [GROUPED, 'py-a', 'py-b'],
    pages: [2, 1],
    made: ['NONE', { who: 'referee' }],
    twice: [409, expect.stringContaining('already exists')],
    ours: ['NONE', ['muster_mark', 'startup-script']],
    template: 'velda-workers-v1',
    size: 1,
  });
  expect(instances).toEqual({
    done: ['bulkInsert', 100],
    pages: [2, 1],
    listed: ['py-1', 'py-2', 'py-3'],
    scopes: [[`zones/${ZONE}`, [OWN]]],
    badNetwork: [
      400,
      "Invalid value for field 'resource.instanceProperties.networkInterfaces[0].network': 'global/networks/nowhere'. The referenced network resource cannot be found.",
    ],
    badType: 400,
    badAccount: 400,
    wrongToken: 401,
    ours: ['e2-standard-4', 'RUNNING', 'SPOT', ['muster-cluster', 'muster-pool', 'muster-shape', 'team'], true],
    gone: 404,
  });
});
