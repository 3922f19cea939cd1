// A computer as a Deployment of a simulated cluster whose pods run the agent: from its request to its end, with the real server.
import { expect, type TestContext, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { Computer } from '../../src/api/wire/computer.ts';
import type { Session } from '../../src/api/wire/session.ts';
import { objectsOf } from '../../src/providers/kubernetes/deployments/testing.ts';
import { serveKubernetes } from '../../src/providers/kubernetes/fake/serve.ts';
import { apiOf } from './harness/api.ts';
import { everything } from './harness/living.ts';
import { placeServer, startServer } from './harness/server.ts';
import { PROGRAM } from './harness/start-place.ts';
import { openWorld } from './harness/world.ts';

async function openScene(context: TestContext) {
  const world = openWorld(context);
  const cluster = await serveKubernetes({
    clock: systemClock,
    random: systemRandom,
    folder: world.path('cluster'),
    behaviour: { scheduleMs: 20, startMs: 100, retryMs: 200 },
    agentCommand: [process.execPath, PROGRAM],
  });
  context.onTestFinished(() => cluster.close());
  const place = await placeServer(world, {});
  await startServer(world, place, { KUBECONFIG: cluster.kubeconfig }).ready();
  const api = apiOf(world, place.http);
  const port = await freePort();
  const computer = () => api.get<Computer>('/computers/dev');
  return {
    world,
    cluster,
    api,
    port,
    computer,
    pod: () => cluster.fake.objects('pods', 'default').at(-1),
    create: () =>
      api.post('/computers', { name: 'dev', platform: 'kubernetes', options: { image: 'muster/agent', port } }),
    untilRunning: () => until('it runs', async () => (await computer()).status === 'running'),
    async exec(script: string) {
      const { id } = await api.post<Session>('/computers/dev/sessions', { command: ['sh', '-c', script] });
      const end = await until('the command ends', async () => (await api.session(id)).end);
      return { code: end.exit_code, out: await api.output(id) };
    },
  };
}

test('a computer runs commands, and its end leaves nothing in the cluster', async (context) => {
  const { cluster, api, port, create, untilRunning, exec } = await openScene(context);

  await create();
  await untilRunning();
  const ran = await exec('echo "in $0"; exit 3');
  const health = await (await fetch(`http://127.0.0.1:${port}/health`)).json();
  const there = objectsOf(cluster.fake).map((object) => object.split(' ')[0]);
  await api.request('/computers/dev', { method: 'DELETE' });
  await until('nothing is left', () => objectsOf(cluster.fake).length === 0);

  expect(ran).toMatchObject({ code: 3, out: 'in sh\n' });
  expect(health).toEqual({ healthy: true });
  expect(there).toEqual(['deployments.apps', 'pods', 'secrets', 'services']);
});

test('the pod that comes in place of another is the same computer, whose token is used up', async (context) => {
  const { cluster, pod, create, untilRunning, exec, computer } = await openScene(context);
  await create();
  await untilRunning();
  const before = pod()?.metadata;
  await exec('echo kept > /tmp/agent/note');

  const path = `/api/v1/namespaces/default/pods/${before?.name}?gracePeriodSeconds=0`;
  await fetch(`${cluster.address}${path}`, { method: 'DELETE' });
  await until('another pod runs', () => {
    const { metadata, status } = pod() ?? {};
    return metadata?.uid !== before?.uid && status?.phase === 'Running';
  });
  await until('its agent is back', async () => (await computer()).away_since === undefined);
  const ran = await exec('echo again');

  expect(ran).toEqual({ code: 0, out: 'again\n' });
  expect((await computer()).status).toBe('running');
});

test('no credential is in an argument or a variable of the agent, nor in anything but the Secret', async (context) => {
  const { world, cluster, create, untilRunning } = await openScene(context);
  await create();
  await untilRunning();
  const secret = cluster.fake.objects('secrets').find(({ metadata }) => metadata.labels?.['muster.io/machine']);
  const data = (secret?.data ?? {}) as Readonly<Record<string, string>>;
  const heldIn = (name: string): string =>
    Buffer.from(data[name] ?? '', 'base64')
      .toString()
      .trim();
  const [file, key] = [heldIn('velda.yaml'), heldIn('agent.key')];
  const token = /joinToken: (\S+)/.exec(file)?.[1] ?? '';
  const seen = everything()
    .filter(({ environment }) => environment.includes(world.folder))
    .map(({ command, environment }) => `${command} ${environment}`)
    .join('\n');
  const objects = ['deployments.apps', 'pods', 'services', 'events'].flatMap((resource) =>
    cluster.fake.objects(resource),
  );

  expect([token.length > 20, key.length]).toEqual([true, 64]);
  expect(seen).toContain('agent');
  for (const text of [seen, JSON.stringify(objects), world.read('server.log')]) {
    expect(text.includes(token), 'the token').toBe(false);
    expect(text.includes(key), 'the key').toBe(false);
  }
});
