// A computer on a real engine: up, used, and down with nothing left; its container shows no credential.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import { startProgram } from '../system/harness/cli.ts';
import { openWorld } from '../system/harness/world.ts';
import { sharedEngine, startDockerServer } from './parts/docker-scene.ts';
import { needed } from './parts/part.ts';

const scene = sharedEngine();
const LIBRARY = join(import.meta.dirname, '../../src/library/computers.ts');
const SCRIPT = `
import { DockerProvisioner } from '${LIBRARY}';
const [verb, port, ttl] = process.argv.slice(2);
const box = new DockerProvisioner({ image: 'muster/agent', port: Number(port), ttl, stateDir: 'state' });
if (verb === 'look') console.log(await box.isRunning(), box.getStatus());
if (verb === 'remove') await box.teardown();
if (verb !== 'hold') process.exit();
await box.setup();
const { host, port: at } = box.endpoint;
console.log(await (await fetch('http://' + host + ':' + at + '/health')).text());
setInterval(() => {}, 1_000);
`;
const HELLO = "require('net').createServer((s) => s.end('hello')).listen(Number(process.argv[1]), '127.0.0.1')";

test('a computer on platform local comes up, runs commands, carries files and ports, and leaves nothing', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const muster = await startDockerServer(context, engine, () => []);
  const computer = (...words: readonly string[]) => muster.muster('computer', ...words);
  const port = await freePort();
  const options = ['--set', 'image=muster/agent', '--set', `port=${await freePort()}`];

  const created = await computer('create', 'dev', '--platform', 'local', ...options, '--ttl', '1h', '--wait');
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/Computer dev is running, until /) });
  expect(await muster.containers()).toEqual(['commandlab-daemon']);
  expect(await computer('exec', 'dev', '--', 'sh', '-c', 'echo in $0; exit 3', 'it')).toMatchObject({
    code: 3,
    out: 'in it\n',
  });

  const inspected = await engine.docker('inspect', 'commandlab-daemon');
  const processes = await engine.docker('top', 'commandlab-daemon', '-eo', 'pid,args');
  const logs = await engine.tryDocker('logs', 'commandlab-daemon');
  for (const shown of [inspected, processes, logs.out, logs.err])
    expect(shown).not.toMatch(/mlt_|join_token|joinToken/);

  const copied = await computer('exec', 'dev', '--', 'sh', '-c', 'echo made there > /tmp/made');
  expect(copied.code).toBe(0);
  const { folder } = muster;
  expect(await computer('cp', 'dev:/tmp/made', `${folder}/made`)).toMatchObject({ code: 0 });
  expect(readFileSync(`${folder}/made`, 'utf8')).toBe('made there\n');
  expect(await computer('cp', `${folder}/made`, 'dev:/tmp/back')).toMatchObject({ code: 0 });
  expect((await computer('exec', 'dev', '--', 'cat', '/tmp/back')).out).toBe('made there\n');

  const serving = muster.begin('computer', 'exec', 'dev', '--', 'node', '-e', HELLO, String(port));
  const forward = muster.begin('computer', 'port-forward', 'dev', `:${port}`);
  const local = Number(await until('it forwards', () => /127\.0\.0\.1:(\d+) -> dev:/.exec(forward.out())?.[1]));
  await until('hello comes through', async () => (await text(connect(local, '127.0.0.1')).catch(() => '')) === 'hello');

  const removed = await computer('rm', 'dev', '--wait');
  expect(removed).toMatchObject({ code: 0, out: expect.stringContaining('Computer dev is gone.') });
  await Promise.all([serving.ended, forward.ended]);
  expect(await muster.containers()).toEqual([]);
  expect((await engine.docker('ps', '-aq', '--filter', 'name=commandlab-daemon')).trim()).toBe('');
});

test('two computers of one container name: the second says who holds it', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const muster = await startDockerServer(context, engine, () => []);
  const create = (name: string, port: number) =>
    muster.muster(
      ...['computer', 'create', name, '--platform', 'local', '--wait', '--set', 'image=muster/agent'],
      ...['--set', `port=${port}`, '--set', 'max_retries=1'],
    );
  const [one, two] = [await create('one', await freePort()), await create('two', await freePort())];

  expect(one.code).toBe(0);
  expect(two).toMatchObject({ code: 1, out: expect.stringContaining('commandlab-daemon') });
  await muster.muster('computer', 'rm', 'one', '--wait');
  await muster.muster('computer', 'rm', 'two', '--wait');
  expect(await muster.containers()).toEqual([]);
});

test('a script with the library makes a container, which the next script finds, and which ends at its time without either', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const world = openWorld(context);
  world.write('box.mjs', SCRIPT);
  const port = String(await freePort());
  const env = { DOCKER_HOST: engine.address };
  const script = (...words: readonly string[]) => startProgram(world, process.execPath, ['box.mjs', ...words], env);
  const found = async (...words: readonly string[]): Promise<string> =>
    (await engine.docker('ps', '-q', '--filter', 'name=commandlab-daemon', ...words)).trim();

  const holder = script('hold', port, '1h');
  await until('it answers', () => holder.out().includes('{"healthy":true}'));
  const second = await script('hold', port, '1h').ended;
  const inspected = await engine.docker('inspect', 'commandlab-daemon');
  holder.signal('SIGKILL');
  await holder.ended;
  const looked = await script('look', port, '1h').ended;
  const removed = await script('remove', port, '1h').ended;
  const left = await found('-a');
  const short = script('hold', port, '15s');
  await until('it answers again', () => short.out().includes('{"healthy":true}'));
  short.signal('SIGKILL');
  await until('the container has ended by itself', async () => (await found()) === '');
  const over = await engine.docker('inspect', '--format', '{{.State.Status}} {{.RestartCount}}', 'commandlab-daemon');
  const swept = await script('remove', port, '15s').ended;

  expect(second).toMatchObject({ code: 1, err: expect.stringMatching(/held|in use|process \d+/) });
  expect(inspected).not.toMatch(/mlt_|join_token|joinToken/);
  expect(looked).toMatchObject({ code: 0, out: 'true running\n' });
  expect([removed.code, left]).toEqual([0, '']);
  expect(over).toBe('exited 0\n');
  expect([swept.code, await found('-a')]).toEqual([0, '']);
});
