// A real server and the real agent, in a container of a simulated Cloud Run: a process with its variables and arguments.
import { expect, inject, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { systemClock } from '#core/clock.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { openFakeGcp } from '../../src/providers/gcp/fake/fake-gcp.ts';
import { containerIn, type FakeService, isGone } from '../../src/providers/gcp/fake/run/service.ts';
import { replaceContainer } from '../../src/providers/gcp/fake/run/state.ts';
import { serveGcp } from '../../src/providers/gcp/fake/serve.ts';
import { type RunningCli, runCli, startProgram } from '../system/harness/cli.ts';
import { placeServer, startServer } from '../system/harness/server.ts';
import { openWorld, type World } from '../system/harness/world.ts';

const AGENT = inject('built')?.agent.path ?? '';
const IMAGE = 'host.example/team/agent:1.2.0';

/** Its entry point is the agent. All containers share one file system here, so each has a folder of its own. */
function startContainer(world: World, service: FakeService): RunningCli {
  const { args = [], env = [] } = containerIn(service);
  const variables = Object.fromEntries(env.map(({ name = '', value = '' }) => [name, value]));
  const file = parse(variables.MUSTER_AGENT_CONFIG ?? '');
  const daemonConfig = { ...file.daemonConfig, workDirPath: world.path(`container-${service.containers}`) };
  const text = stringify({ ...file, daemonConfig });
  return startProgram(world, process.execPath, [AGENT, ...args], { ...variables, MUSTER_AGENT_CONFIG: text });
}

test('the agent of a container joins by its environment alone, runs commands, and that of the next container is not let in', async (context) => {
  const world = openWorld(context);
  const fake = openFakeGcp(systemClock);
  const { run } = fake.world;
  Object.assign(run.behaviour, { bootMs: 200, endMs: 200 });
  const served = await serveGcp(fake, { port: 0 });
  context.onTestFinished(() => served.close());
  const containers: RunningCli[] = [];
  const stop = run.watch((service) => {
    if (service.containers > containers.length) containers.push(startContainer(world, service));
  });
  context.onTestFinished(stop);
  const place = await placeServer(world, {});
  const server = await startServer(world, place, {
    CLOUDSDK_API_ENDPOINT_OVERRIDES_RUN: `${served.address}/`,
    CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
    GOOGLE_CLOUD_PROJECT: 'my-project',
  }).ready();
  const port = await freePort();
  const computer = (...words: readonly string[]) =>
    runCli(world, ['computer', ...words], { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` });

  const options = ['--set', `image=${IMAGE}`, '--set', `port=${port}`];
  const created = await computer('create', 'dev', '--platform', 'gcp_cloud_run', ...options, '--ttl', '1h', '--wait');
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/Computer dev is running, until /) });
  const health = await fetch(`http://127.0.0.1:${port}/health`);
  expect([health.status, await health.json()]).toEqual([200, { healthy: true }]);
  const said = await computer('exec', 'dev', '--', 'sh', '-c', 'echo "$MUSTER_AGENT_CONFIG$MUSTER_POOL"');
  expect(said).toMatchObject({ code: 0, out: 'dev\n' });

  const [service] = run.services as [FakeService];
  const first = containers[0] as RunningCli;
  first.signal('SIGKILL');
  await first.ended;
  replaceContainer(run, service);
  const [refused] = await until('the next agent is refused', () => {
    const found = server.logged('agent refused');
    return found.length > 0 && found;
  });
  expect(refused).toMatchObject({ agent: service.id, error: expect.stringContaining('joined with another key') });
  expect((await computer('why', 'dev')).out).toMatch(/agent is away since/);

  expect(await computer('rm', 'dev', '--wait')).toMatchObject({ code: 0 });
  expect(run.services.map((one) => isGone(one, systemClock.now()))).toEqual([true]);
  for (const container of containers) container.signal('SIGKILL');
});

test('the agent of a worker serves the port that its service waits for', async (context) => {
  const world = openWorld(context);
  const fake = openFakeGcp(systemClock);
  const { run } = fake.world;
  const served = await serveGcp(fake, { port: 0 });
  context.onTestFinished(() => served.close());
  const port = await freePort();
  const containers: RunningCli[] = [];
  const stop = run.watch((service) => {
    if (containers.length > 0) return;
    const [argument, value] = containerIn(service).args ?? [];
    expect([argument, value]).toEqual(['--serve', '8080']);
    // 8080 of this machine may be another's.
    const args = ['--serve', String(port)];
    const container = { ...containerIn(service), args };
    containers.push(
      startContainer(world, { ...service, wanted: { ...service.wanted, template: { containers: [container] } } }),
    );
  });
  context.onTestFinished(stop);
  const backend = { gcp_cloud_run: { project: 'my-project', region: 'us-central1', image: IMAGE } };
  const pool = { name: 'scripts', auto_scaler: { backend, max_agents: 1, min_idle_agents: 1, max_idle_agents: 1 } };
  const place = await placeServer(world, { agent_pools: [pool] });
  await startServer(world, place, {
    CLOUDSDK_API_ENDPOINT_OVERRIDES_RUN: `${served.address}/`,
    CLOUDSDK_AUTH_DISABLE_CREDENTIALS: 'true',
  }).ready();
  const address = { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` };

  const ran = await runCli(world, ['run', '-p', 'scripts', '--', 'echo', 'hi'], address);
  expect(ran).toMatchObject({ code: 0, out: 'hi\n' });
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  for (const container of containers) container.signal('SIGKILL');
});
