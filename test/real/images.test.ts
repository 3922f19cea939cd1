// Images of the agent by a real engine: built, found, pushed to a real registry, and a computer on each of them.
import { readFileSync } from 'node:fs';
import { expect, type TestContext, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { Image, ImageBuild } from '../../src/api/wire/image.ts';
import { openWorld } from '../system/harness/world.ts';
import { type DockerEngine, dockerParts, importTiny, TINY } from './parts/docker.ts';
import { sharedEngine, startDockerServer } from './parts/docker-scene.ts';
import { needed } from './parts/part.ts';
import { openRegistry, registryProgram } from './parts/registry.ts';

const scene = sharedEngine();
const VERSION = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
const NAME = `muster-agent:${VERSION}`;

/** All that is no image with a name: containers, and layers that no image has. */
async function leftIn(engine: DockerEngine): Promise<string> {
  const containers = await engine.docker('ps', '-aq');
  const dangling = await engine.docker('images', '-q', '--filter', 'dangling=true');
  return `${containers}${dangling}`;
}

async function open(context: TestContext) {
  const { engine } = needed(context, scene());
  const muster = await startDockerServer(context, engine, () => []);
  const build = (...words: readonly string[]) =>
    muster.muster('image', 'build', 'docker', '--set', `host=${engine.address}`, ...words);
  const json = async <T>(...words: readonly string[]): Promise<T> =>
    JSON.parse((await muster.muster(...words, '-o', 'json')).out) as T;
  const computer = (...words: readonly string[]) => muster.muster('computer', ...words);
  return { engine, muster, build, json, computer };
}

test('an image is built once, recorded by the server, and a computer runs on it without naming it', async (context) => {
  const { engine, muster, build, json, computer } = await open(context);

  const first = await build();
  expect(first).toMatchObject({ code: 0, out: expect.stringContaining(`${NAME} (docker): built in`) });
  const again = await build();
  expect(again.out).toContain('nothing was built');
  expect(await leftIn(engine)).toBe('');
  const [image] = await json<Image[]>('image', 'ls', 'docker');
  const builds = await json<ImageBuild[]>('image', 'builds');
  expect(builds.map(({ outcome }) => outcome)).toEqual(['unchanged', 'built']);
  const log = await muster.muster('image', 'log', builds[1]?.id ?? '');
  expect(log.out).toContain('/opt/muster/bin/muster --version');
  const labels = await engine.docker('inspect', '-f', '{{json .Config.Labels}}', NAME);
  expect(JSON.parse(labels)).toMatchObject({ 'muster.recipe': image?.recipe });
  const inside =
    'cat /etc/machine-id /etc/ssh/* 2>/dev/null; grep -rl mlt_ /opt/muster/bin /etc /root /tmp /run || echo no token';
  const shown = await engine.tryDocker('run', '--rm', '--network', 'none', '--entrypoint', 'sh', NAME, '-c', inside);
  expect(shown.out).toBe('no token\n');

  const port = ['--set', `port=${await freePort()}`];
  const created = await computer('create', 'dev', '--platform', 'local', ...port, '--wait');
  expect(created).toMatchObject({ code: 0, out: expect.stringContaining('Computer dev is running') });
  expect((await computer('exec', 'dev', '--', 'echo', 'in it')).out).toBe('in it\n');
  expect((await engine.docker('inspect', '-f', '{{.Config.Image}}', 'commandlab-daemon')).trim()).toBe(NAME);
  expect((await computer('rm', 'dev', '--wait')).code).toBe(0);
  expect(await muster.containers()).toEqual([]);
});

test('an image that was pushed is what a computer pulls where its engine lacks it', async (context) => {
  const { program } = needed(context, await registryProgram());
  const { engine, muster, build, computer } = await open(context);
  const registry = await openRegistry(openWorld(context), program);
  const name = `${registry.host}/team/muster-agent`;

  const pushed = await build('--version', '1.2.0', '--push', name);
  expect(pushed).toMatchObject({ code: 0, out: expect.stringContaining(`${name}:1.2.0`) });
  expect(await registry.tags('team/muster-agent')).toEqual(['1.2.0']);
  await engine.docker('rmi', `${name}:1.2.0`, 'muster-agent:1.2.0');

  const options = ['--set', `image=${name}:1.2.0`, '--set', `port=${await freePort()}`];
  const created = await computer('create', 'dev', '--platform', 'local', ...options, '--wait');
  expect(created).toMatchObject({ code: 0 });
  expect((await computer('exec', 'dev', '--', 'echo', 'pulled')).out).toBe('pulled\n');
  expect((await computer('rm', 'dev', '--wait')).code).toBe(0);
  expect(await muster.containers()).toEqual([]);
  await engine.docker('rmi', `${name}:1.2.0`);
  expect(await leftIn(engine)).toBe('');
});

test('a registry that wants a login: its words and the command; the image is there all the same', async (context) => {
  const { program } = needed(context, await registryProgram());
  const { engine, build } = await open(context);
  const registry = await openRegistry(openWorld(context), program, { isClosed: true });

  const refused = await build('--version', '1.3.0', '--push', `${registry.host}/muster-agent`);

  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('no basic auth credentials');
  expect(refused.err).toContain(`docker login ${registry.host}`);
  expect((await engine.docker('images', '-q', 'muster-agent:1.3.0')).trim()).not.toBe('');
});

test('a step that fails fails the command with its place and exit code, and leaves nothing', async (context) => {
  const { engine, build } = await open(context);
  const parts = needed(context, await dockerParts());
  await importTiny(openWorld(context), engine, parts);

  const failed = await build('--version', '1.4.0', '--set', `base=${TINY}`);

  expect(failed.code).not.toBe(0);
  expect(failed.err).toMatch(/Step 1 of 2 ended with exit code 127: \/opt\/muster\/bin\/muster --version\n {2}/);
  expect(await leftIn(engine)).toBe('');
  expect((await engine.docker('images', '-q', 'muster-agent:1.4.0')).trim()).toBe('');
});

test('a build that is ended by Ctrl-C in a step exits with another code than 0, and leaves neither image nor container', async (context) => {
  const { engine, muster } = await open(context);
  const given = muster.begin(...['image', 'build', 'docker', '--version', '1.7.0', '--set', `host=${engine.address}`]);
  await until('a step runs', () => given.err().includes('> /opt/muster/bin/muster'));
  given.signal('SIGINT');

  expect((await given.ended).code).toBe(130);
  expect((await engine.docker('images', '-q', 'muster-agent:1.7.0')).trim()).toBe('');
  expect(await leftIn(engine)).toBe('');
});

test('what a build leaves that was killed is removed by the next one', async (context) => {
  const { engine, muster, build } = await open(context);
  const killed = muster.begin(...['image', 'build', 'docker', '--version', '1.5.0', '--set', `host=${engine.address}`]);
  await until('a step runs', () => killed.err().includes('> '));
  killed.signal('SIGKILL');
  await killed.ended;

  expect((await build('--version', '1.6.0')).code).toBe(0);
  expect(await leftIn(engine)).toBe('');
});
