// Velda's own agent and command line, on this server.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type Api, apiOf } from '../system/harness/api.ts';
import { type RunningCli, runCli } from '../system/harness/cli.ts';
import { placeServer, type RunningServer, type ServerPlace, startServer } from '../system/harness/server.ts';
import { openWorld, type World } from '../system/harness/world.ts';
import { isMissing, needed, type Part } from './parts/part.ts';
import type { Ran } from './parts/run.ts';
import { openVeldaCli, startVeldaAgent, type VeldaProgram, veldaProgram } from './parts/velda.ts';

interface Scene {
  readonly program: VeldaProgram;
  readonly place: ServerPlace;
  readonly api: Api;
  velda(...words: string[]): Promise<Ran>;
  /** `velda run --batch`, as root, in the pool of the agent; `more` before the command. */
  batch(command: string, ...more: string[]): Promise<Ran>;
}

const AGENT = 'v1';
let world: World;
let server: RunningServer;
let agent: RunningCli | undefined;
let scene: Part<Scene>;

beforeAll(async () => {
  world = openWorld();
  const program = await veldaProgram(world);
  if (isMissing(program)) {
    scene = program;
    return;
  }
  const pool = { name: 'shell', agent_auth: 'network', agent_networks: ['127.0.0.0/8'] };
  const place = await placeServer(world, { agent_pools: [pool] });
  server = await startServer(world, place).ready();
  agent = startVeldaAgent(world, program, server, AGENT);
  const velda = await openVeldaCli(world, program, server);
  const batch = (command: string, ...more: string[]): Promise<Ran> =>
    velda('run', '--batch', '--instance', '1', '-u', 'root', '-s', '', ...more, '--', 'sh', '-c', command);
  scene = { program, place, api: apiOf(world, place.http), velda, batch };
});

afterAll(() => world?.close());

const isConnected = async ({ api }: Scene): Promise<boolean> => (await api.workers()).some(({ agent }) => agent);

async function running({ api, batch }: Scene, command: string): Promise<string> {
  const id = (await batch(command)).out.trim();
  await until('it runs', async () => (await api.session(id)).phase === 'running');
  return id;
}

const waitFor = (name: string): string => `while [ ! -e '${world.path(name)}' ]; do sleep 0.1; done`;

async function endOf({ api }: Scene, id: string) {
  return await until('it has ended', async () => (await api.session(id)).end);
}

test('its agent joins', async (context) => {
  const here = needed(context, scene);

  await until('the agent is connected', () => isConnected(here));

  expect(server.logged('agent connected')).toEqual([expect.objectContaining({ agent: AGENT, wire: 'velda' })]);
});

test('`velda run --batch` starts a session, and `velda task log` shows its output', async (context) => {
  const here = needed(context, scene);

  const id = (await here.batch('echo out; echo err >&2; id -un')).out.trim();

  expect(await endOf(here, id)).toMatchObject({ how: 'exited', exit_code: 0 });
  expect((await here.velda('task', 'log', id)).out).toBe('out\nroot\n');
  expect(await here.api.output(id)).toContain('err');
});

test('a megabyte of output comes whole', async (context) => {
  const here = needed(context, scene);
  // Its agent drops what it has not read of an ended command.
  const id = await running(here, `head -c 1000000 /dev/zero | tr '\\0' x; ${waitFor('read')}`);
  const followed = here.velda('task', 'log', '-f', id);
  await until('the server has all of it', async () => (await here.api.output(id)).length === 1_000_000);
  world.write('read', '');

  const { code, out } = await followed;

  expect({ code, bytes: out.length }).toEqual({ code: 0, bytes: 1_000_000 });
});

test('`velda run --batch -f` follows a session, and ends as it did', async (context) => {
  const here = needed(context, scene);

  expect(await here.batch('echo well', '-f')).toMatchObject({ code: 0, out: expect.stringContaining('well\n') });
  expect(await here.batch('echo badly; exit 3', '-f')).toMatchObject({
    code: 1,
    out: expect.stringContaining('badly\n'),
    err: expect.stringContaining('exit code 3'),
  });
});

test('an unknown user is refused, and so is a session over SSH', async (context) => {
  const here = needed(context, scene);

  const id = (await here.batch('true', '-u', 'no-such-user')).out.trim();

  expect(await endOf(here, id)).toMatchObject({ how: 'refused' });
  expect(await here.velda('run', '--instance', '1', '-u', 'root', '--', 'true')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Unimplemented'),
  });
});

// Without privileges its agent ends the program that runs a session, but not the command: the end comes with that.
test.for([
  ['task cancel', ['task', 'cancel']],
  ['kill-session', ['kill-session', '--instance', '1', '--force', '--session-id']],
] as const)('`velda %s` kills a session', async ([name, words], context) => {
  const here = needed(context, scene);
  const id = await running(here, waitFor(name));

  expect(await here.velda(...words, id)).toMatchObject({ code: 0 });
  await until('its kill is recorded', async () => (await here.api.session(id)).kill);
  world.write(name, '');

  expect(await endOf(here, id)).toMatchObject({ how: 'killed' });
});

test('a session outlives a restart of the server', async (context) => {
  const here = needed(context, scene);
  const id = await running(here, `${waitFor('restarted')}; exit 4`);

  await server.kill();
  server = await startServer(world, here.place).ready();
  await until('the agent is back', () => isConnected(here));
  world.write('restarted', '');

  expect(await endOf(here, id)).toMatchObject({ how: 'exited', exit_code: 4 });
  expect((await here.api.session(id)).attempt).toBe(1);
});

test('a drained agent finishes its session, is rejected, and joins once it was started again', async (context) => {
  const here = needed(context, scene);
  const id = await running(here, waitFor('drained'));

  expect(await runCli(world, ['worker', 'drain', AGENT])).toMatchObject({ code: 0 });
  world.write('drained', '');

  expect(await endOf(here, id)).toMatchObject({ how: 'exited', exit_code: 0 });
  await until('it is rejected', () => server.logged('agent refused').length > 0);
  expect(await isConnected(here)).toBe(false);
  agent?.signal('SIGKILL');
  await agent?.ended;
  agent = startVeldaAgent(world, here.program, server, AGENT);
  await until('it is connected', () => isConnected(here));
});
