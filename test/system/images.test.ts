// The images without an engine: what their Dockerfiles put below /opt/muster, started by the command of their entry point.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { systemRandom } from '#core/random.ts';
import { untilHolds } from '#core/testing/until.ts';
import { makeAgentRoot, makeServerRoot } from '../../scripts/image-root.ts';
import { versionFor } from '../../src/program/version.ts';
import { serveKubernetes } from '../../src/providers/kubernetes/fake/serve.ts';
import { runProgram, startProgram } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld, ROOT } from './harness/world.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

test('the server runs from its folder alone, hands out its agent, and reads a cluster', async (context) => {
  const world = openWorld(context);
  const cluster = await serveKubernetes({ port: 0, clock: systemClock, random: systemRandom, agentCommand: [] });
  context.onTestFinished(() => cluster.close());
  const root = world.path('opt/muster');
  await makeServerRoot(root);
  const command = join(root, 'bin/muster');
  const local = { name: 'local', auto_scaler: { max_agents: 1, backend: { process: { env: world.mark } } } };
  const place = await placeServer(
    world,
    { agent_pools: [local, { name: 'edge' }], provisioners: [{ kubernetes: { namespace: 'default' } }] },
    { isFirstStart: true },
  );
  const main = join(root, 'dist/server/main.mjs');
  await startServer(world, place, { KUBECONFIG: cluster.kubeconfig }, main).ready();

  const applied = await runProgram(world, command, ['kube', 'crd']);
  const ran = await runProgram(world, command, ['run', '-p', 'local', '--', 'echo', 'from the server image']);
  const version = await runProgram(world, command, ['--version']);

  expect(ran).toMatchObject({ code: 0, out: 'from the server image\n' });
  // With the commit, where this checkout has one.
  expect(version.out.trim()).toBe(versionFor(['--version']));
  expect(applied.out).toBe(read('deploy/kubernetes/agentpool-crd.yaml'));
  // Its CRD is not installed there: the server has asked the cluster, and says so.
  await untilHolds(async () => {
    const sources = await runProgram(world, command, ['source', 'ls']);
    expect(sources.out).toContain('The cluster does not know AgentPools');
  });

  const agentRoot = world.path('agent/muster');
  await makeAgentRoot(agentRoot);
  const token = await runProgram(world, command, ['token', 'create', '--join', 'edge']);
  const config = world.write(
    'run/velda.yaml',
    JSON.stringify({
      broker: { address: `127.0.0.1:${place.grpc}` },
      daemon_config: { work_dir_path: world.path('work') },
    }),
  );
  const env = { VELDA_SYSTEM_CONFIG: config, AGENT_NAME: 'edge-1', MUSTER_JOIN_TOKEN: token.out.trim() };
  const agent = join(agentRoot, 'bin/muster');
  startProgram(world, agent, ['--pool=edge'], env);

  const joined = await runProgram(world, command, ['run', '-p', 'edge', '--', 'echo', 'from the agent image']);
  const mistyped = await runProgram(world, agent, ['--pol=edge']);
  expect(joined).toMatchObject({ code: 0, out: 'from the agent image\n' });
  expect(mistyped.code).toBe(2);
  expect(mistyped.err).toMatch(/^muster: .*--pol.*\n {2}Usage: muster agent \[--pool NAME\]/);
});

test.each(['server', 'agent'])(
  'the Dockerfile of the %s copies what exists, and starts what its script makes',
  (image) => {
    const text = read(`deploy/docker/${image}.Dockerfile`);
    const lines = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    const ignored = read(`deploy/docker/${image}.Dockerfile.dockerignore`).split('\n');
    const [, major] = /^FROM node:(\d+)-bookworm-slim$/m.exec(text) ?? [];

    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(copied.filter((path) => !ignored.includes(`!${path}`))).toEqual([]);
    expect(lines).toContain(`RUN node scripts/image-root.ts ${image} /out`);
    expect(lines).toContain('COPY --from=build /out /opt/muster');
    expect(lines).toContain('ENTRYPOINT ["/opt/muster/bin/muster"]');
    // The least that tools/muster.mjs takes.
    expect(Number(major)).toBeGreaterThanOrEqual(24);
    if (image === 'server') expect(lines).toContain('USER 1000:1000');
  },
);
