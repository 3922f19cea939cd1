import { performance } from 'node:perf_hooks';
import { beforeAll, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { type SharedPostgres, sharedPostgres } from '../../src/store/testing/postgres.ts';
import { apiOf } from './harness/api.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

const AGENTS = 4;

let postgres: SharedPostgres;
beforeAll(async () => {
  postgres = await sharedPostgres();
});

test.concurrent.each(['the holder itself', 'the standby'])(
  'after a holder is frozen all agents that came by %s are back at the next holder, with their sessions',
  async (way) => {
    const world = openWorld();
    try {
      const store = await postgres.database();
      const pool = processPool(world, 'local', { max_agents: AGENTS, min_agents: AGENTS });
      const a = await placeServer(world, {}, { name: 'a' });
      const b = await placeServer(world, {}, { name: 'b' });
      const [first, other] = (way === 'the standby' ? [b, a] : [a, b]).map(({ grpc }) => `http://127.0.0.1:${grpc}`);
      const broker = { address: first, addresses: [other] };
      for (const place of [a, b]) place.configure({ store, default_broker_info: broker, agent_pools: [pool] });
      const holder = await startServer(world, a).ready();
      const standby = startServer(world, b);
      await until('the other stands by', () => standby.logged('listening').length > 0);
      const command = ['sh', '-c', 'while [ ! -e "$1" ]; do sleep 0.1; done', 'sh', world.path('stop')];
      const submitted = await Promise.all(
        Array.from({ length: AGENTS }, () => apiOf(world, a.http).submit({ pool: 'local', command })),
      );
      const api = apiOf(world, b.http);
      await until('all run', async () => {
        const sessions = await Promise.all(submitted.map(({ id }) => api.session(id)));
        return sessions.every(({ phase }) => phase === 'running');
      });

      holder.signal('SIGSTOP');
      const frozenMs = performance.now();
      await standby.ready();
      const servesMs = performance.now();
      const back = () => new Set(standby.logged('agent connected').map(({ agent }) => agent)).size;
      await until('all agents are back', () => back() === AGENTS);
      const seconds = (ms: number): string => ((ms - frozenMs) / 1_000).toFixed(1);
      process.stderr.write(
        `  frozen holder, agents by ${way}: the next one serves after ${seconds(servesMs)} s, all agents are back after ${seconds(performance.now())} s\n`,
      );
      world.write('stop', '');
      const ended = await until('all have ended', async () => {
        const sessions = await Promise.all(submitted.map(({ id }) => api.session(id)));
        return sessions.every(({ end }) => end) && sessions;
      });

      expect(ended.map(({ attempt, end }) => ({ attempt, how: end?.how, code: end?.exit_code }))).toEqual(
        submitted.map(() => ({ attempt: 1, how: 'exited', code: 0 })),
      );
      expect(await api.workers()).toHaveLength(AGENTS);
    } finally {
      await world.close();
    }
  },
);
