import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAULTS } from '#core/fault.ts';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

test('a server that starts from a backup goes on with the sessions in it, and takes in what has come since', async (context) => {
  const world = openWorld(context);
  const file = world.path('backup.db');
  const config = (store: string, agents: number) => ({
    store: world.path(store),
    agent_pools: [processPool(world, 'local', { max_agents: agents, min_agents: agents, max_idle_agents: agents })],
  });
  const place = await placeServer(world, config('store', 1));
  const api = apiOf(world, place.http);
  const idle = async (): Promise<string[]> =>
    (await api.workers()).filter(({ phase }) => phase === 'idle').map(({ name }) => name);
  const first = await startServer(world, place).ready();
  const before = await until('the first worker is here', async () => (await idle())[0]);
  const script = 'echo begun; while [ ! -e "$1" ]; do sleep 0.1; done; echo over; exit 6';
  const { id } = await api.submit({ pool: 'local', command: ['sh', '-c', script, 'x', world.path('stop')] });
  await until('it runs', async () => (await api.session(id)).phase === 'running');

  const written = await runCli(world, ['backup', file]);
  const again = await runCli(world, ['backup', file]);
  place.configure(config('store', 2));
  const since = await until('another worker is here', async () => (await idle())[0]);
  await first.kill();
  const agents = world.agents();
  const restored = await runCli(world, ['restore', file, '--store', world.path('restored')]);
  const full = await runCli(world, ['restore', file, '--store', world.path('restored')]);
  place.configure(config('restored', 2));
  const second = await startServer(world, place).ready();
  await until('both agents are back', async () => {
    const workers = await api.workers();
    return workers.length === 2 && workers.every(({ agent }) => agent !== undefined);
  });
  world.write('stop', '');
  const ended = await until('the session has ended', async () => {
    const session = await api.session(id);
    return session.end && session;
  });

  expect(written).toMatchObject({ code: 0, out: expect.stringContaining(file) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(again.code).toBe(FAULTS.conflict.exit);
  expect(restored.code).toBe(0);
  expect(full.code).toBe(FAULTS.conflict.exit);
  expect(second.logged('serving')[0]?.epoch).toBeGreaterThan(1_000_000);
  expect((await api.workers()).map(({ name }) => name).toSorted()).toEqual([before, since].toSorted());
  expect(world.agents().toSorted()).toEqual(agents.toSorted());
  expect((await api.events('machine.adopted')).map(({ subject }) => subject)).toEqual([`worker/${since}`]);
  expect(ended).toMatchObject({ attempt: 1, worker: before, end: { how: 'exited', exit_code: 6 } });
  expect(await api.output(id)).toBe('begun\nover\n');
});
