import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

// In a terminal Ctrl-C reaches npm and the server, and npm passes it on: the server gets it twice.
test('Ctrl-C that comes a second time through npm stops idle local agents and the server in order', async (context) => {
  const world = openWorld(context);
  const pool = processPool(world, 'local', { min_agents: 2, max_agents: 2, max_idle_agents: 2 });
  const place = await placeServer(world, { agent_pools: [pool] });
  const server = await startServer(world, place).ready();
  const api = apiOf(world, place.http);
  await until('two agents are idle', async () => {
    const phases = (await api.workers()).map(({ phase }) => phase);
    return phases.length === 2 && phases.every((phase) => phase === 'idle');
  });

  server.signal('SIGINT');
  await until('the server has heard it', () => server.logged('stopping').length > 0);
  server.signal('SIGINT');

  expect(await server.ended).toEqual({ code: 0, signal: null });
  await until('no agent is left', () => world.agents().length === 0);
});

test('SIGTERM stops idle local agents too where nothing starts the server again', async (context) => {
  const world = openWorld(context);
  const pool = processPool(world, 'local', { min_agents: 1, max_agents: 1, max_idle_agents: 1 });
  const place = await placeServer(world, { agent_pools: [pool] });
  const server = await startServer(world, place, { INVOCATION_ID: '' }).ready();
  const api = apiOf(world, place.http);
  await until('an agent is idle', async () => (await api.workers()).some(({ phase }) => phase === 'idle'));

  server.signal('SIGTERM');

  expect(await server.ended).toEqual({ code: 0, signal: null });
  await until('no agent is left', () => world.agents().length === 0);
});
