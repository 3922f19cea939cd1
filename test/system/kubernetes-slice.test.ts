// AgentPool → pods → agent → session, with the real server, on a simulated cluster whose pods run the agent.
import { describe, expect, type TestContext, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { until } from '#core/testing/until.ts';
import { AGENT_POOL_CRD } from '../../src/providers/kubernetes/agent-pool/crd.ts';
import { type ServedKubernetes, serveKubernetes } from '../../src/providers/kubernetes/fake/serve.ts';
import simulation from '../../src/providers/kubernetes/fake/simulation.ts';
import { type Api, apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { PROGRAM } from './harness/start-place.ts';
import { openWorld, type World } from './harness/world.ts';

const POOLS = '/apis/velda.io/v1/namespaces/default/agentpools';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The seed's cpu-pool, its bounds smaller. */
const CPU_POOL = {
  apiVersion: 'velda.io/v1',
  kind: 'AgentPool',
  metadata: { name: 'cpu-pool', namespace: 'default' },
  spec: {
    autoscaler: {
      minReplicas: 0,
      maxReplicas: 3,
      minIdle: 1,
      maxIdle: 1,
      idleDecaySecond: 300,
      defaultSlotsPerAgent: 1,
    },
    template: {
      metadata: { labels: { app: 'velda-agent', pool: 'cpu-pool' } },
      spec: {
        containers: [
          {
            name: 'agent',
            image: 'veldaio/agent:latest',
            args: ['--pool=cpu-pool'],
            securityContext: { privileged: true },
            resources: { requests: { memory: '8Gi', cpu: '4' }, limits: { memory: '8Gi', cpu: '4' } },
            volumeMounts: [{ name: 'velda-config', mountPath: '/run/velda' }],
          },
        ],
        volumes: [{ name: 'velda-config', configMap: { name: 'velda-config' } }],
      },
    },
  },
};

interface Slice {
  readonly world: World;
  readonly api: Api;
  readonly cluster: ServedKubernetes;
  post(path: string, object: object): Promise<void>;
  /** The pods that exist, past any client. */
  pods(): readonly string[];
}

async function openSlice(context: TestContext): Promise<Slice> {
  const world = openWorld(context);
  const cluster = await serveKubernetes({
    clock: systemClock,
    random: systemRandom,
    folder: world.path('cluster'),
    behaviour: { scheduleMs: 20, startMs: 100, retryMs: 200 },
    agentCommand: [process.execPath, PROGRAM],
  });
  context.onTestFinished(() => cluster.close());
  const place = await placeServer(world, { provisioners: [{ kubernetes: { namespace: 'default' } }] });
  const post = async (path: string, object: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${cluster.address}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(object),
    });
    expect(response.status, await response.text()).toBe(201);
  };
  await post(CRDS, AGENT_POOL_CRD);
  const address = `velda-apiserver.default.svc.cluster.local:${place.grpc}`;
  await post('/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'velda-config' },
    data: { 'velda.yaml': `broker:\n  address: "${address}"\n` },
  });
  await startServer(world, place, { KUBECONFIG: cluster.kubeconfig }).ready();
  const pods = (): readonly string[] => cluster.fake.objects('pods', 'default').map(({ metadata }) => metadata.name);
  return { world, api: apiOf(world, place.http), cluster, post, pods };
}

const RUN = ['run', '--pool', 'cpu-pool', '--'];

/** The documents that commands write with `<<'END'`, by the command. */
const heredocsOf = (lines: readonly string[]): [string, string][] =>
  [...lines.join('\n').matchAll(/^(.*) <<'END'\n([\s\S]*?)\nEND$/gm)].map((match) => [
    match[1] as string,
    match[2] as string,
  ]);

test('what `muster sim cloud kubernetes` says to try ends in a session on a pod', async (context) => {
  const world = openWorld(context);
  const agentCommand = [process.execPath, PROGRAM];
  const cluster = await simulation.start({ port: 0, clock: systemClock, random: systemRandom, agentCommand });
  context.onTestFinished(() => cluster.close());
  const documents = new Map(heredocsOf(cluster.tries));
  const create = (path: string, object: object) =>
    fetch(`${cluster.address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
  await create(CRDS, AGENT_POOL_CRD);
  const made = await create(POOLS, parse(documents.get('kubectl apply -f -') ?? ''));
  const place = await placeServer(world, parse(documents.get('cat > muster.yaml') ?? ''));
  await startServer(world, place, cluster.environment).ready();

  const ran = await runCli(world, ['run', '--pool', 'pods', '--', 'echo', 'in a pod']);

  expect(made.status).toBe(201);
  expect(cluster.tries).toContain('npx muster run --pool pods -- uname -a');
  expect(ran).toMatchObject({ code: 0, out: 'in a pod\n' });
});

describe.concurrent('an AgentPool on a simulated cluster', () => {
  test('has pods that run the agent and its sessions, and is deleted when the last pod has gone', async (context) => {
    const { world, cluster, post, pods } = await openSlice(context);

    await post(POOLS, CPU_POOL);
    await until('it is ready', () => {
      const found = cluster.fake.object('agentpools.velda.io', 'default', 'cpu-pool')?.status;
      return found?.ready === 1 && pods().length === 1;
    });
    const ran = await runCli(world, [...RUN, 'echo', 'in a pod']);
    world.write('project/main.sh', 'cat data; stat -c %a data main.sh', 0o755);
    world.write('project/data', 'sent along\n', 0o640);
    const synced = await runCli(world, ['run', '-p', 'cpu-pool', '--sync', world.path('project'), '--', './main.sh']);
    await fetch(`${cluster.address}${POOLS}/cpu-pool`, { method: 'DELETE' });
    await until('it is gone', () => cluster.fake.objects('agentpools.velda.io').length === 0);

    expect(ran).toMatchObject({ code: 0, out: 'in a pod\n' });
    expect(synced).toMatchObject({ code: 0, out: 'sent along\n640\n755\n' });
    expect(pods()).toEqual([]);
  });

  test('keeps a pod whose container restarts: the same agent joins again', async (context) => {
    const { world, api, cluster, post, pods } = await openSlice(context);
    await post(POOLS, CPU_POOL);
    const joined = () => api.events('worker.joined');
    const [first = ''] = await until('its pod has joined', async () => (await joined()).length > 0 && pods());

    cluster.killContainer('default', first);
    await until('its container has restarted', () => {
      const [status] = (cluster.fake.object('pods', 'default', first)?.status?.containerStatuses ?? []) as {
        restartCount: number;
        ready: boolean;
      }[];
      return status?.restartCount === 1 && status.ready;
    });
    const ran = await runCli(world, [...RUN, 'echo', 'in the same pod']);

    expect(ran).toMatchObject({ code: 0, out: 'in the same pod\n' });
    expect(pods()).toContain(first);
  });
});
