import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld } from './harness/world.ts';

const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)(
  'with `user` sessions of a process pool run as that user and cannot read the files of the server (needs root)',
  async (context) => {
    const world = openWorld(context);
    // Anyone may pass through; only the data directory is closed.
    chmodSync(world.folder, 0o711);
    const shared = world.path('agents');
    mkdirSync(shared, { mode: 0o755 });
    const backend = { process: { user: 'daemon', work_dir: shared, env: world.mark } };
    const pools = (most: number) => ({
      agent_pools: [{ name: 'local', auto_scaler: { backend, min_agents: most, max_agents: most } }],
    });
    const place = await placeServer(world, pools(1));
    const api = apiOf(world, place.http);
    const server = await startServer(world, place).ready();

    const script = 'id -un; cat "$1/admin.token"; ls "$1"; echo of its own >file && cat file; exit 3';
    const ran = await runCli(world, ['run', '--', 'sh', '-c', `cd "$(mktemp -d)"; ${script}`, 'sh', world.dataDir]);
    const typed = await runCli(world, ['run', '--interactive', '--', 'id', '-un']);
    const before = await api.workers();
    await server.kill();
    await startServer(world, place).ready();
    const again = await runCli(world, ['run', '--', 'id', '-un']);
    const after = await api.workers();
    place.configure(pools(0));
    await until('the pool is empty', async () => (await api.workers()).length === 0);

    expect(ran).toMatchObject({ code: 3, out: 'daemon\nof its own\n' });
    expect(ran.err.match(/Permission denied/g)).toHaveLength(2);
    expect(typed).toMatchObject({ code: 0, out: 'daemon\n' });
    expect(again).toMatchObject({ code: 0, out: 'daemon\n' });
    expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name));
    expect(readdirSync(shared)).toEqual(['.programs']);
  },
);
