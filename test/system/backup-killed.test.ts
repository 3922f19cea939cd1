import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

const OUTPUT_BYTES = 12 * 2 ** 20;

/** Every file that holds a part of a backup. */
function partsOf(world: World): string[] {
  const beside = readdirSync(world.folder).filter((name) => name.includes('.part'));
  const inside = readdirSync(world.dataDir).filter((name) => name.startsWith('backup-'));
  return [...beside, ...inside];
}

test.concurrent.each(['to a file of the server', 'to the caller'])(
  'kill -9 of the server in the middle of a backup %s leaves no copy behind',
  async (where) => {
    const world = openWorld();
    try {
      const place = await placeServer(world, { agent_pools: [processPool(world, 'local', { max_agents: 1 })] });
      const api = apiOf(world, place.http);
      let server = await startServer(world, place).ready();
      const command = ['sh', '-c', 'head -c "$1" /dev/urandom', 'sh', String(OUTPUT_BYTES)];
      const { id } = await until('it is accepted', () => api.submit({ pool: 'local', command }));
      await until('its output is stored', async () => (await api.session(id)).end !== undefined);

      const file = world.path('copy.db');
      const back = where === 'to the caller' ? api.request('/backup') : api.post('/backup', { file });
      back.catch(() => {});
      // The folder or note of a backup is there before its first byte, and as long as it is not done.
      await until('a part of it is written', () => partsOf(world).length > 0);
      await server.kill();
      const left = partsOf(world);
      server = await startServer(world, place).ready();

      expect(left).not.toEqual([]);
      expect(partsOf(world)).toEqual([]);
      expect(existsSync(file)).toBe(false);
      expect(server.logged('removed backups that were cut short')).toMatchObject([{ backups: 1 }]);
      expect((await api.session(id)).end).toMatchObject({ exit_code: 0 });
    } finally {
      await world.close();
    }
  },
);
