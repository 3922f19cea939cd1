import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Context, Launch, PendingCreate } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import { openFakeGcp } from '../../src/providers/gcp/fake/fake-gcp.ts';
import { isGone } from '../../src/providers/gcp/fake/run/service.ts';
import { serveGcp } from '../../src/providers/gcp/fake/serve.ts';
import gcp from '../../src/providers/gcp/index.ts';
import { needed } from './parts/part.ts';
import { pythonPrograms } from './parts/python.ts';
import { complaintOf, run } from './parts/run.ts';

const DRIVE = join(import.meta.dirname, 'parts', 'drive-run.py');
const OWN = 'c-dev-c1-0123456789';
const PLACE = { project: 'my-project', region: 'us-central1' };
const going = (): AbortSignal => new AbortController().signal;

const LAUNCH: Launch = {
  id: 'launch1',
  mark: { cluster: 'cluster1', use: 'computer', owner: 'c1', shape: 's1' },
  names: [OWN],
  boot: { agentConfig: 'pool: dev\nserve: 8000\n', token: 'mlt_x', port: 8_000 },
  askedAt: 0,
};

test("Google's client for Python makes, pages and deletes services of the simulated Cloud Run, and reads what Muster made", async (context) => {
  const { program } = needed(context, await pythonPrograms());
  const fake = openFakeGcp(systemClock);
  const state = fake.world.run;
  Object.assign(state.behaviour, { bootMs: 300, endMs: 200, lateMs: 200, lagMs: 0, pageSize: 2 });
  state.missingImages.add('host.example/nothing:1');
  const served = await serveGcp(fake, { port: 0 });
  context.onTestFinished(() => served.close());
  const parts: Context = {
    ...{ cluster: 'cluster1', clock: systemClock, random: systemRandom, log: silentLog, fetch },
    ...{ shared: openShared(), dataDir: '/nowhere', agentCommand: [] },
    variable: (name) => (name === 'CLOUDSDK_AUTH_DISABLE_CREDENTIALS' ? 'true' : `${served.address}/`),
  };
  const { gcp_cloud_run: kind } = gcp.backends;
  const config = {
    ...PLACE,
    image: 'host.example/agent:1',
    serviceAccount: 'workers@my-project.iam.gserviceaccount.com',
  };
  const backend = await kind.open(kind.config.parse(config), parts);
  let outcomes = await backend.create(LAUNCH, going());
  while (outcomes.some(({ operation }) => operation !== undefined)) {
    await systemClock.sleep(100, going());
    outcomes = (await backend.check?.(outcomes as PendingCreate[], going())) ?? [];
  }
  // From here on it asks who calls.
  fake.world.storage.isOpen = false;
  const token = fake.world.granted.give('referee');

  const ran = await run(program('python'), [DRIVE, served.address, token, OWN], {
    env: { ...process.env } as Record<string, string>,
  });

  expect(ran.code, complaintOf(ran)).toBe(0);
  expect(JSON.parse(ran.out)).toEqual({
    made: ['py-a', 'CONDITION_SUCCEEDED', false, 'INGRESS_TRAFFIC_ALL', 'hi', true],
    pages: [2, 1],
    listed: [OWN, 'py-a', 'py-b'],
    revisions: [true],
    twice: [409, expect.stringContaining('already exists')],
    badName: 400,
    longName: 400,
    missing: [404, expect.stringContaining("Image 'host.example/nothing:1' not found.")],
    staleEtag: 409,
    wrongToken: 401,
    // What we send means to Google's client what we mean.
    ours: {
      labels: ['muster-cluster', 'muster-computer', 'muster-port', 'muster-shape'],
      state: 'CONDITION_SUCCEEDED',
      ingress: 'INGRESS_TRAFFIC_ALL',
      isPublic: false,
      scaling: [1, 1],
      cpuIdle: false,
      limits: { cpu: '1', memory: '1Gi' },
      port: 8_000,
      probe: ['/health', 8_000],
      variables: ['MUSTER_AGENT_CONFIG'],
      environment: 'EXECUTION_ENVIRONMENT_GEN2',
      account: 'workers',
    },
    left: [OWN],
    gone: 404,
    revisionsGone: 404,
  });
  fake.world.storage.isOpen = true;
  const machines = await backend.list(going());
  expect(machines).toMatchObject([{ name: OWN, state: 'running', endpoints: [{ port: 443, scheme: 'https' }] }]);
  await backend.delete(machines, going());
  while ((await backend.list(going())).length > 0) await systemClock.sleep(100, going());
  expect(state.services.every((one) => isGone(one, systemClock.now()))).toBe(true);
});
