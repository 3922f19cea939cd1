// Real agent processes: their port for probes, and the end of their time.
import { expect, type TestContext, test } from 'vitest';
import { HOUR_MS, systemClock } from '#core/clock.ts';
import { freePort } from '#core/testing/free-port.ts';
import { until, untilHolds } from '#core/testing/until.ts';
import { type FakePlane, openFakePlane } from '../../src/broker/testing.ts';
import { type RunningCli, runCli, startCli } from './harness/cli.ts';
import { openWorld, type World } from './harness/world.ts';

type Tree = Readonly<Record<string, unknown>>;

async function aPlane(context: TestContext): Promise<FakePlane> {
  const plane = await openFakePlane();
  context.onTestFinished(() => plane.close());
  return plane;
}

const iso = (ms: number): string => new Date(ms).toISOString();

function fileOf(world: World, more: Tree): string {
  const daemon_config = { agent_name: 'a1', work_dir_path: world.path('work') };
  return world.write('agent.yaml', JSON.stringify({ pool: 'local', daemon_config, ...more }));
}

const agentOf = (world: World, file: string, ...words: string[]): RunningCli =>
  startCli(world, ['agent', '--config', file, ...words]);

const health = (port: number): Promise<string> =>
  fetch(`http://127.0.0.1:${port}/health`).then(async (said) => `${said.status} ${await said.text()}`);

const isHealthy = (port: number): Promise<void> =>
  untilHolds(async () => expect(await health(port)).toBe('200 {"healthy":true}'));

const spec = (script: string) => ({
  ...{ command: ['sh', '-c', script], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 60_000, retries: 0 },
});

test('at its end an agent ends its sessions with their grace, reports them and exits; one that starts later starts nothing', async (context) => {
  const world = openWorld(context);
  const plane = await aPlane(context);
  const port = await freePort();
  const broker = { address: `http://127.0.0.1:${plane.port}` };
  const file = fileOf(world, { broker, join_token: 'tok', ends_at: iso(systemClock.now() + HOUR_MS) });
  const agent = agentOf(world, file, '--serve', String(port), '--end-code', '80');
  await untilHolds(() => expect(plane.joined).toHaveLength(1));
  expect(plane.hellos[0]?.hello).toMatchObject({ name: 'a1', movesEnd: true });
  await isHealthy(port);
  plane.link.send('a1', {
    do: 'start',
    session: 's1',
    attempt: 1,
    spec: spec('trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.05; done'),
  });
  await until('it runs', () => plane.reports.some(({ report }) => report.is === 'output'));

  plane.link.send('a1', { do: 'end at', at: systemClock.now() + 300 });
  await until('its end was reported', () => plane.reports.some(({ report }) => report.is === 'ended'));
  plane.link.send('a1', { do: 'ack', session: 's1', attempt: 1, seq: 9, result: true });
  const { code, err } = await agent.ended;

  expect(code).toBe(80);
  expect(err).toContain('"why":"The time of this agent is over."');
  expect(plane.reports.map(({ report }) => report).find(({ is }) => is === 'ended')).toMatchObject({
    session: 's1',
    how: 'killed',
    exitCode: 3,
    message: 'The time of the worker is over.',
  });
  expect(plane.hellos.at(-1)?.hello).toMatchObject({ slots: 0, leaving: { why: 'its time is over' } });
  await expect(health(port)).rejects.toThrow();

  const joins = plane.hellos.length;
  const again = await agentOf(world, file, '--serve', String(port), '--end-code', '80').ended;
  expect([again.code, plane.hellos.length]).toEqual([80, joins]);
});

test('an end that the server has moved survives kill -9 of the agent, and the file of the launch does not undo it', async (context) => {
  const world = openWorld(context);
  const plane = await aPlane(context);
  const broker = { address: `http://127.0.0.1:${plane.port}` };
  const later = systemClock.now() + 2 * HOUR_MS;
  const first = agentOf(world, fileOf(world, { broker, join_token: 'tok', ends_at: iso(systemClock.now() + HOUR_MS) }));
  await untilHolds(() => expect(plane.hellos).toHaveLength(1));

  // Again, as the server does after every join: a command that comes before the agent is connected is lost.
  await untilHolds(() => {
    plane.link.send('a1', { do: 'end at', at: later });
    expect(world.read('work/end.json')).toBe(JSON.stringify({ agent: 'a1', endsAt: later }));
  });
  first.signal('SIGKILL');
  await first.ended;
  const next = agentOf(world, fileOf(world, { broker, join_token: 'tok', ends_at: '2020-01-01T00:00:00Z' }));

  await untilHolds(() => expect(plane.hellos).toHaveLength(2));
  expect(plane.hellos[1]?.hello.slots).toBe(1);
  next.signal('SIGTERM');
  expect((await next.ended).code).toBe(0);
});

test('muster agent without a server answers probes until a signal, and needs neither pool nor token', async (context) => {
  const world = openWorld(context);
  const port = await freePort();
  const file = world.write('alone.yaml', JSON.stringify({ serve: port, ends_at: iso(systemClock.now() + HOUR_MS) }));
  const agent = agentOf(world, file);
  await isHealthy(port);

  const second = await agentOf(world, file).ended;
  agent.signal('SIGTERM');
  const { code, err } = await agent.ended;

  expect(second.code).toBe(5);
  expect(second.err).toMatch(new RegExp(`Port ${port} of this machine is in use by process \\d+ \\("[^"]*node"\\)\\.`));
  expect([code, world.living()]).toEqual([0, []]);
  expect(err).toContain('agent starts without a server');
});

test('without a server it ends at its end, also where another process has its port', async (context) => {
  const world = openWorld(context);
  const plane = await aPlane(context);
  const file = world.write('alone.yaml', JSON.stringify({ serve: plane.port, ends_at: '2020-01-01T00:00:00Z' }));

  expect((await agentOf(world, file).ended).code).toBe(0);
  expect((await agentOf(world, file, '--end-code', '80').ended).code).toBe(80);

  const soon = world.write(
    'soon.yaml',
    JSON.stringify({ serve: await freePort(), ends_at: iso(systemClock.now() + 800) }),
  );
  const { code, err } = await agentOf(world, soon).ended;
  expect([code, err]).toEqual([0, expect.stringContaining('"why":"The time of this agent is over."')]);
});

test.each([
  [['--serve', '0'], '--serve 0 is not a whole number from 1 to 65535.'],
  [['--serve', 'http'], '--serve http is not a whole number from 1 to 65535.'],
  [['--end-code', '256'], '--end-code 256 is not a whole number from 0 to 255.'],
  [[], "The agent's configuration has no broker.address."],
])('options that cannot be are refused, and an agent with neither server nor port: %j', async (words, said) => {
  const world = openWorld();
  const { code, err } = await runCli(world, ['agent', '--config', world.write('empty.yaml', '{}'), ...words]);
  await world.close();

  expect([code, err]).toEqual([2, expect.stringContaining(said)]);
});
