// All that `npm run package` writes, on a machine with a Docker engine and without; its images are loaded and run.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { readCommit, readVersion } from '../../src/program/version.ts';
import { runCli } from '../system/harness/cli.ts';
import { openWorld, ROOT } from '../system/harness/world.ts';
import { poolOf, sharedEngine, startDockerServer } from './parts/docker-scene.ts';
import { needed } from './parts/part.ts';
import { run, runWell } from './parts/run.ts';

const scene = sharedEngine();
const env = process.env as Record<string, string>;
const IMAGES = ['muster-agent-image-x64.tar.gz', 'muster-server-image-x64.tar.gz'];
const OTHERS = ['install.sh', 'muster-linux-arm64.tar.gz', 'muster-linux-x64.tar.gz', 'SHA256SUMS'];
const tarball = `muster-muster-${readVersion()}.tgz`;

test('npm run package without a Docker engine says so in one line, and writes the rest', async (context) => {
  const world = openWorld(context);
  const away = { ...env, DOCKER_HOST: `unix://${world.path('docker.sock')}` };

  const made = await run('npm', ['run', '--silent', 'package', '--', world.path('out')], { env: away, cwd: ROOT });

  expect(made.code).toBe(0);
  expect(made.err.split('\n').filter((line) => line !== '' && !line.startsWith('npm warn'))).toEqual([
    expect.stringMatching(/^The images were not made, because no Docker engine answers: ./),
  ]);
  expect(readdirSync(world.path('out')).toSorted()).toEqual([...OTHERS, tarball].toSorted());
});

test('npm run package with a Docker engine writes both images, and what docker load takes of them runs', async (context) => {
  const { engine } = needed(context, scene());
  const { docker, tryDocker } = engine;
  const world = openWorld(context);
  const own = { ...env, ...engine.env, HOME: env.HOME ?? '/', DOCKER_CONFIG: world.folder };
  const made = await run('npm', ['run', '--silent', 'package', '--', world.path('out')], { env: own, cwd: ROOT });
  expect(made.code).toBe(0);
  expect(readdirSync(world.path('out')).toSorted()).toEqual([...IMAGES, ...OTHERS, tarball].toSorted());
  await runWell('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { env, cwd: world.path('out') });
  expect(readFileSync(world.path('out/SHA256SUMS'), 'utf8').split('\n')).toHaveLength(6);

  const tags = ['server', 'agent'].flatMap((image) => [`muster/${image}:${readVersion()}`, `muster/${image}:latest`]);
  await docker('rmi', ...tags);
  for (const image of IMAGES) await docker('load', '--input', world.path(`out/${image}`));

  const [server = ''] = tags;
  const version = await docker('run', '--rm', '--network', 'none', server, '--version');
  const port = await freePort();
  const publish = ['--publish', `127.0.0.1:${port}:8081`];
  await docker('run', '--detach', '--name', 'muster', ...publish, server);
  await until('it serves', async () => /\bserving\b/.test((await tryDocker('logs', 'muster')).err));
  const ran = await docker('exec', 'muster', 'muster', 'run', '--', 'id', '-u');
  await docker('cp', 'muster:/var/lib/muster/ca.pem', world.path('ca.pem'));
  world.write('token', await docker('exec', 'muster', 'muster', 'token', 'create', '--role', 'operator'));
  const credentials = ['--ca', world.path('ca.pem'), '--token-file', world.path('token')];
  const added = await runCli(world, ['context', 'add', 'box', `https://127.0.0.1:${port}`, ...credentials]);
  const fromOutside = await runCli(world, ['run', '--', 'hostname']);
  const name = await docker('exec', 'muster', 'hostname');
  await docker('rm', '-f', '-v', 'muster');
  const muster = await startDockerServer(context, engine, () => [poolOf('dev', { pull: 'never' })]);
  const inAgent = await muster.muster('run', '-p', 'dev', '--', 'echo', 'in the image of the agent');
  await muster.untilEmpty();

  expect(version).toBe(`${readVersion()} (${readCommit()})\n`);
  expect(ran).toBe('1000\n');
  expect(added).toMatchObject({ code: 0, err: '' });
  expect(fromOutside).toMatchObject({ code: 0, out: name });
  expect(inAgent).toMatchObject({ code: 0, out: 'in the image of the agent\n' });
});
