// A real engine with a pool of real containers that run the real agent, in the image of the project's own Dockerfile.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import { until, untilHolds } from '#core/testing/until.ts';
import { poolOf, sharedEngine, startDockerServer } from './parts/docker-scene.ts';
import { needed } from './parts/part.ts';
import { addLeavingLink, LIST, makeProject } from './parts/synced-folder.ts';

const scene = sharedEngine();
/** A folder that containers see as `/gate`; sessions leave their container's name there, and wait until it is open. */
function openGate(context: Pick<TestContext, 'onTestFinished'>) {
  const folder = mkdtempSync(join(tmpdir(), 'muster-gate-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    mount: `${folder}:/gate`,
    open: () => writeFileSync(join(folder, 'open'), ''),
    /** The containers whose sessions have come so far. */
    waiting: (): string[] => readdirSync(folder).toSorted(),
  };
}

const AT_GATE = ': > /gate/$(hostname); while [ ! -e /gate/open ]; do sleep 0.1; done; hostname';

test('both Dockerfiles build, and what they build starts', async (context) => {
  const { build, engine } = needed(context, scene());
  const { docker, tryDocker } = engine;
  const [server, agent] = [await build('server'), await build('agent')];

  const container = (await docker('run', '-d', '--network', 'none', server)).trim();
  await until('it serves', async () => /\bserving\b/.test((await tryDocker('logs', container)).err));
  const user = await docker('exec', container, 'id', '-u');
  const ran = await docker('exec', container, 'muster', 'run', '--', 'echo', 'in the image of the server');
  await docker('stop', container);
  const ended = await docker('inspect', '-f', '{{.State.ExitCode}}', container);
  await docker('rm', '-v', container);
  const mistyped = await tryDocker('run', '--rm', agent, '--pol=x');

  expect(user.trim()).toBe('1000');
  expect(ran).toBe('in the image of the server\n');
  expect(ended.trim()).toBe('0');
  expect(mistyped.code).toBe(2);
  expect(mistyped.err).toContain('Usage: muster agent [--pool NAME]');
});

test('a pool with nothing but an image goes from 0 to 5 containers and back to 0 with its sessions', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const theirs = (
    await engine.docker('run', '-d', '--name', 'theirs', '--network', 'none', 'muster/agent', 'sleep')
  ).trim();
  context.onTestFinished(async () => void (await engine.tryDocker('rm', '-f', theirs)));
  const gate = openGate(context);
  const muster = await startDockerServer(context, engine, () => [poolOf('dev', { volumes: [gate.mount] })]);
  expect(await muster.containers()).toEqual([]);

  const running = muster.muster('run', '-p', 'dev', '--count', '5', '--', 'sh', '-c', AT_GATE);
  await until('five run', () => gate.waiting().length === 5);
  const names = await muster.containers();
  const inspected = await engine.docker('inspect', ...names);
  gate.open();
  const { code, out } = await running;
  await muster.untilEmpty();

  expect(code).toBe(0);
  expect(names).toHaveLength(5);
  expect(names.filter((name) => !out.includes(name))).toEqual([]);
  expect(inspected).not.toContain('mlt_');
  expect(inspected).toContain('"io.muster.use": "worker"');
  expect(await engine.docker('ps', '-a', '--format', '{{.Names}}')).toBe('theirs\n');
});

test.for([
  ['the address of the machine', undefined],
  ['host.docker.internal', 'host.docker.internal'],
] as const)('containers on a bridge join by TLS at %s', async ([, name], context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const muster = await startDockerServer(context, engine, () => [poolOf('dev', { network: 'bridge' })], {
    host: engine.gateway,
    config: (grpc) =>
      name === undefined
        ? {}
        : { access: { allowed_hosts: [name] }, default_broker_info: { address: `https://${name}:${grpc}` } },
  });

  const { code, out } = await muster.muster('run', '-p', 'dev', '--', 'sh', '-c', 'hostname -i; cat /etc/hosts');
  await muster.untilEmpty();

  const network = engine.gateway.replace(/1$/, '');
  expect(code).toBe(0);
  expect(out.startsWith(network)).toBe(true);
  expect(out).toMatch(new RegExp(`${engine.gateway}\\s+host.docker.internal`));
});

test('a folder that is sent along is equal in a container in bytes, modes and links, and a link out of it is refused by name', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const muster = await startDockerServer(context, engine, () => [poolOf('dev', {})]);
  const folder = mkdtempSync(join(tmpdir(), 'muster-synced-'));
  context.onTestFinished(() => rmSync(folder, { recursive: true }));
  const project = join(folder, 'project');
  const list = makeProject(project);

  const ran = await muster.muster('run', '-p', 'dev', '--sync', project, '--', ...LIST);
  const inside = await muster.muster('run', '-p', 'dev', '--sync', project, '-C', 'src', '--', 'sh', '-c', './main.sh');
  const beside = await muster.muster(
    'run',
    '-p',
    'dev',
    '--sync',
    project,
    '--',
    'sh',
    '-c',
    'stat -c %a .; ls ../beside',
  );
  addLeavingLink(project);
  const refused = await muster.muster('run', '-p', 'dev', '--sync', project, '--', 'true');
  await muster.untilEmpty();

  expect(ran).toMatchObject({ code: 0, out: list });
  expect(inside).toMatchObject({ code: 0, out: 'it runs\n' });
  expect(beside).toMatchObject({ code: 1, out: '700\n' });
  expect(refused.code).toBe(2);
  expect(refused.err).toContain('The link out leads out of the folder, to ../beside.');
});

test('a container that is killed under a session is gone, and the session runs again in another', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const gate = openGate(context);
  const muster = await startDockerServer(context, engine, () => [poolOf('dev', { volumes: [gate.mount] })]);

  const running = muster.muster('run', '-p', 'dev', '--retries', '1', '--', 'sh', '-c', AT_GATE);
  const first = await until('it runs', () => gate.waiting()[0]);
  await engine.docker('kill', first);
  const second = await until('another runs', () => gate.waiting().find((name) => name !== first));
  gate.open();
  const { code, out } = await running;
  await muster.untilEmpty();

  expect(code).toBe(0);
  expect(out).toContain(second);
});

test('docker stop gives a session the time to finish', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const gate = openGate(context);
  const muster = await startDockerServer(context, engine, () => [
    poolOf('dev', { volumes: [gate.mount], stop_timeout: '5m' }),
  ]);

  const running = muster.muster('run', '-p', 'dev', '--', 'sh', '-c', `${AT_GATE}; exit 7`);
  const name = await until('it runs', () => gate.waiting()[0]);
  const stopping = engine.docker('stop', name);
  await until('its agent drains', async () => (await engine.tryDocker('logs', name)).err.includes('draining'));
  gate.open();
  const { code, out } = await running;
  await stopping;
  await muster.untilEmpty();

  expect(code).toBe(7);
  expect(out).toContain(name);
});

test('an engine that is away is named with the command that starts it, and work goes on when it is back', async (context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const muster = await startDockerServer(context, engine, () => [
    poolOf('dev', {}, { min_idle_agents: 1, max_idle_agents: 1 }),
  ]);
  const [before] = await until('one is there', async () => {
    const names = await muster.containers();
    return names.length === 1 && (await muster.muster('worker', 'ls')).out.includes('idle') && names;
  });
  await engine.stop();
  let said = '';
  await untilHolds(async () => {
    said = await muster.shown('dev');
    expect(said).toContain('not running');
  });
  await engine.start();
  const ran = await muster.muster('run', '-p', 'dev', '--', 'hostname');

  expect(said).toContain('sudo systemctl start docker');
  expect(ran.code).toBe(0);
  expect(ran.out.trim()).not.toBe(before);
});

test.for<readonly [string, object, RegExp]>([
  ['an image that is nowhere', { image: 'muster/agnet', pull: 'never' }, /No such image: muster\/agnet:latest/],
  ['a registry that cannot be reached', { image: 'registry.invalid/agent' }, /Cannot pull registry\.invalid\/agent/],
  ['a broker out of reach', { network: 'bridge' }, /cannot reach the broker at http:\/\/127\.0\.0\.1/],
  [
    'a network that is not there',
    { network: 'nowhere', agent_config: { broker: { address: 'http://host.docker.internal:1' } } },
    /network nowhere not found/,
  ],
  ['GPUs without a driver', { gpus: 'all' }, /could not select device driver/],
  [
    'an image without the agent',
    { image: 'node:24-bookworm-slim', command: ['nonsense'] },
    /exit code 127: its image does not start the agent; .* exec nonsense failed/,
  ],
  ['an agent that ends', { command: ['--pol=x'] }, /exit code 2.*its log ends:.*Usage: muster agent/],
])('the pool names %s', async ([, docker, message], context) => {
  const { build, engine } = needed(context, scene());
  await build('agent');
  const scaler = { min_idle_agents: 1, max_idle_agents: 1 };
  const muster = await startDockerServer(context, engine, () => [poolOf('dev', docker, scaler)]);

  await untilHolds(async () => expect((await muster.shown('dev')).replace(/\s+/g, ' ')).toMatch(message));
});
