// deploy/compose.yaml on a real engine. The images of Muster are built here, and PostgreSQL's is a stand-in: what registries
// have is not proven.
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { buildImage } from '../../scripts/package-images.ts';
import { readVersion } from '../../src/program/version.ts';
import { openWorld, ROOT } from '../system/harness/world.ts';
import { buildPostgres, composeParts, openCompose } from './parts/compose.ts';
import { type DockerEngine, dockerParts, openDocker } from './parts/docker.ts';
import { openImages } from './parts/docker-images.ts';
import { needed } from './parts/part.ts';
import { runWell } from './parts/run.ts';

const docker = await dockerParts();
const compose = await composeParts();
const env = ({ env: own }: DockerEngine) => ({ ...process.env, ...own, DOCKER_BUILDKIT: '0' });

test('compose.yaml brings up PostgreSQL, two replicas and a worker, which goes on when the acting replica is lost', async (context) => {
  const parts = needed(context, docker);
  const composing = needed(context, compose);
  const world = openWorld(context);
  const engine = await openDocker(world, parts, [], composing.engineEnv);
  context.onTestFinished(() => engine.close());
  needed(context, await openImages(world, engine, parts));
  const named = readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8');
  for (const image of ['server', 'agent'] as const) {
    expect(named).toContain(`muster/${image}:${readVersion()}`);
    await buildImage(image, [`muster/${image}:${readVersion()}`], world.folder, env(engine));
  }
  await buildPostgres(world, engine, /image: (postgres:\S+)/.exec(named)?.[1] ?? '');
  // Another server of this machine may have the ports of the guide.
  const [first, second] = [await freePort(), await freePort()];
  world.write('deploy/compose.yaml', named.replace('1:8081:', `1:${first}:`).replace('1:8082:', `1:${second}:`));
  mkdirSync(world.path('deploy/docker'));
  cpSync(join(ROOT, 'deploy/docker/compose-server.yaml'), world.path('deploy/docker/compose-server.yaml'));
  const up = openCompose(composing, engine, world.path('deploy'));

  // As the guide has it, after `cd deploy`: `docker compose up` and `exec`.
  const without = await up('up', '--detach');
  const password = 'echo "POSTGRES_PASSWORD=$(openssl rand -hex 16)" > .env';
  await runWell('sh', ['-c', password], { env: world.env, cwd: world.path('deploy') });
  const started = await up('up', '--detach');
  context.onTestFinished(async () => void (await up('down', '--volumes', '--timeout', '5')));
  expect(started).toMatchObject({ code: 0 });
  const muster = (replica: string, ...words: string[]) => up('exec', '-T', replica, 'muster', ...words);
  await until('it serves', async () => (await muster('server-b', 'status')).code === 0);
  const ran = await muster('server-b', 'run', '--', 'sh', '-c', 'echo a session on $(hostname)');
  const worker = (await up('ps', '-q', 'worker')).out.trim().slice(0, 12);
  const holder = /server-[ab]/.exec((await muster('server-a', 'status')).out)?.[0] ?? '';
  const standby = holder === 'server-a' ? 'server-b' : 'server-a';
  await up('kill', holder);
  await until('the other one acts', async () => (await muster(standby, 'status')).out.includes(standby));
  const after = await muster(standby, 'run', '--', 'echo', 'after the takeover');

  expect(without).toMatchObject({ code: 1, err: expect.stringContaining('Write POSTGRES_PASSWORD=') });
  expect(ran).toMatchObject({ code: 0, out: `a session on ${worker}\n` });
  expect(after).toMatchObject({ code: 0, out: 'after the takeover\n' });
});
