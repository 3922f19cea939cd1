import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type CliResult, runProgram } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { PROGRAM } from './harness/start-place.ts';
import { openWorld, type World } from './harness/world.ts';

// In a view of the mounts that no other process has.
const READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"';
const canMount = spawnSync('unshare', ['-m', 'mount', '--bind', '/tmp', '/tmp']).status === 0;

function startReadOnly(world: World, file: string): Promise<CliResult> {
  const server = [process.execPath, PROGRAM, 'server', '--config', file];
  return runProgram(world, 'unshare', ['-m', 'sh', '-c', READ_ONLY, 'sh', world.dataDir, ...server]);
}

test.skipIf(!canMount).concurrent.each(['empty', 'full'])(
  'a server whose data directory is %s and on a read-only disk says so and what to do (needs root)',
  async (how) => {
    const world = openWorld();
    try {
      const place = await placeServer(world, { agent_pools: [] }, { isFirstStart: how === 'empty' });
      mkdirSync(world.dataDir, { recursive: true });
      if (how === 'full') await (await startServer(world, place).ready()).kill();
      const { code, err } = await startReadOnly(world, place.file);

      expect(code).toBe(3);
      expect(err).toContain('read-only file system');
      expect(err).toContain('on a disk that is mounted for writing');
      expect(err).not.toContain('please report');
      expect(err).not.toContain('"serving"');
    } finally {
      await world.close();
    }
  },
);
