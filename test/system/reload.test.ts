import { expect, test } from 'vitest';
import { FAULTS } from '#core/fault.ts';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

test.concurrent('the file is read again when it changes: whole, or not at all', async (context) => {
  const world = openWorld(context);
  const one = processPool(world, 'one', { max_agents: 1, min_agents: 1 });
  const two = processPool(world, 'two', { max_agents: 1, min_agents: 1 });
  const place = await placeServer(world, { agent_pools: [one] });
  const server = await startServer(world, place).ready();
  const api = apiOf(world, place.http);
  const pools = async (): Promise<string[]> =>
    (await api.get<{ items: { name: string }[] }>('/pools')).items.map(({ name }) => name);
  const refusals = async (): Promise<string[]> => (await api.events('config.refused')).map(({ message }) => message);

  place.configure({ agent_pools: [one, two] });
  await until('the new pool has its worker', async () => {
    return (await api.workers()).some(({ pool, phase }) => pool === 'two' && phase === 'idle');
  });

  place.configure({ agent_pools: [{ ...one, auto_scaller: {} }, two] });
  const [refusal] = await until('it is refused', async () => (await refusals()).length > 0 && refusals());
  const poolsThen = await pools();
  // Nothing has changed since: only the signal makes it look again.
  server.signal('SIGHUP');
  await until('it is refused again', async () => (await refusals()).length === 2);

  place.configure({ agent_pools: [one, two], agent: { lease: '7m' }, allow_new_pool: true });
  const applied = await until('what needs a restart is said', async () =>
    (await api.events('config.applied')).find(({ message }) => message.includes('restart')),
  );

  place.configure({ agent_pools: [two], agent: { lease: '7m' }, allow_new_pool: true });
  await until('the pool is removed', async () => !(await pools()).includes('one'));

  expect(refusal).toMatch(
    /server\.yaml:\d+:\d+: agent_pools\[0\]\.auto_scaller: is not a known key; did you mean auto_scaler\?/,
  );
  expect(poolsThen).toEqual(['one', 'two']);
  expect(server.logged('configuration refused, keeping the previous one')).toHaveLength(2);
  expect(applied.message).toContain('Only a restart changes allow_new_pool, agent.');
  const workers = await api.workers();
  expect(workers.map(({ pool }) => pool)).toEqual(['two']);
  expect(world.agents()).toEqual(workers.map(({ name }) => name));
});

test.concurrent('config check says every problem with its place, and its exit code tells', async (context) => {
  const world = openWorld(context);
  const good = world.write(
    'good.yaml',
    'agent_pools:\n  - name: a\n    auto_scaler: { backend: { process: {} }, max_agents: 1 }\n',
  );
  const bad = world.write(
    'bad.yaml',
    'agent_pools:\n  - name: a\n    auto_scaler:\n      max_agents: many\n      idle_decay: 5 minutes\nserve: {}\n',
  );
  const broken = world.write('broken.yaml', 'agent_pools: [\n');

  const [fine, wrong, half, none] = await Promise.all(
    [good, bad, broken, world.path('none.yaml')].map((file) => runCli(world, ['config', 'check', file])),
  );

  expect(fine).toMatchObject({ code: 0, out: expect.stringContaining('is valid') });
  expect(wrong?.code).toBe(FAULTS.invalid.exit);
  expect(wrong?.out).toMatch(/bad\.yaml:4:19: agent_pools\[0\]\.auto_scaler\.max_agents/);
  expect(wrong?.out).toMatch(/bad\.yaml:5:19: agent_pools\[0\]\.auto_scaler\.idle_decay/);
  expect(wrong?.out).toMatch(/bad\.yaml:6:1: serve: is not a known key; did you mean server\?/);
  expect(half?.code).toBe(FAULTS.invalid.exit);
  expect(none?.code).toBe(FAULTS.missing.exit);
});

test.concurrent('a server is not started from a bad file, and says why', async (context) => {
  const world = openWorld(context);
  const place = await placeServer(world, { agent_pools: [{ name: 'a', auto_scaler: { max_agents: -1 } }] });

  const server = startServer(world, place);
  const end = await server.ended;

  expect(end.code).toBe(FAULTS.invalid.exit);
  expect(world.read(server.logName)).toContain('agent_pools[0].auto_scaler.max_agents');
});
