// `muster run --sync` with the real server, real agents and the real command line.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { sendSignal } from '#host/processes.ts';
import { apiOf } from './harness/api.ts';
import { gpuPool, REGION, serveAws } from './harness/aws.ts';
import { runCli, startCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

// Names, kinds, modes and targets, then the bytes.
const LIST =
  "find . -mindepth 1 -printf '%P %y %m %l\\n' | sort; find . -type f -exec sha256sum {} + | sort -k 2; find . -name x.log";

/** A folder with everything that can be sent, and a few things that are not. */
function aProject(world: World): string {
  mkdirSync(world.path('project/src/empty'), { recursive: true });
  world.write('project/src/main.sh', 'echo it runs', 0o755);
  world.write('project/secret', 'mine alone', 0o600);
  world.write('project/large', 'x'.repeat(3_000_000));
  world.write('project/name with spaces\nand ünïcödé', 'odd');
  world.write('project/nothing', '');
  symlinkSync('src/main.sh', world.path('project/link'));
  symlinkSync('../secret', world.path('project/src/up'));
  chmodSync(world.path('project/src/empty'), 0o555);
  return world.path('project');
}

const listed = (folder: string): string => execFileSync('sh', ['-c', LIST], { cwd: folder, encoding: 'utf8' });

const foldersLeft = (world: World): string[] => {
  const machines = world.path('data/machines');
  const work = readdirSync(machines).map((name) => join(machines, name, 'work/files'));
  return work.flatMap((path) => (existsSync(path) ? readdirSync(path) : []));
};

describe.concurrent('a folder that is sent along', () => {
  test('is equal on the worker in bytes, modes and links, is shared by sessions, and goes with them', async (context) => {
    const world = openWorld(context);
    const pool = processPool(world, 'local', { max_agents: 2, max_idle_agents: 2 });
    const place = await placeServer(world, { agent_pools: [pool] });
    await startServer(world, place).ready();
    const api = apiOf(world, place.http);
    const project = aProject(world);
    const before = listed(project);
    world.write('project/.gitignore', 'x.log\n.gitignore\n');
    world.write('project/x.log', 'not sent');
    const run = ['run', '--sync', project, '--', 'sh', '-c', LIST];

    const both = await Promise.all([runCli(world, run), runCli(world, run)]);
    const usage = await api.get<{ files: number }>('/files');
    const inside = await runCli(world, ['run', '--sync', project, '-C', 'src', '--', './main.sh']);
    const local = await runCli(world, ['run', '-C', 'project/src', '--', 'sh', '-c', 'pwd; ./main.sh']);

    expect(both.map(({ code, out }) => ({ code, out }))).toEqual([
      { code: 0, out: before },
      { code: 0, out: before },
    ]);
    // Five contents and one manifest: both sessions name the same.
    expect(usage).toMatchObject({ files: 6 });
    expect(inside).toMatchObject({ code: 0, out: 'it runs\n' });
    expect(local).toMatchObject({ code: 0, out: `${project}/src\nit runs\n` });
    await until('nothing is left on the workers', () => foldersLeft(world).length === 0);
  });

  test('is the same for the next attempt, after the agent and the server were killed', async (context) => {
    const world = openWorld(context);
    const pool = processPool(world, 'local', { max_agents: 2, min_agents: 2, max_idle_agents: 2 });
    const place = await placeServer(world, { agent_pools: [pool] });
    const server = await startServer(world, place).ready();
    const api = apiOf(world, place.http);
    const project = aProject(world);
    const script = `if [ -e "$0/first" ]; then ${LIST}; else touch "$0/first"; rm -rf ./*; sleep 1000; fi`;
    const run = startCli(world, ['run', '--retries', '1', '--sync', project, '--', 'sh', '-c', script, world.folder]);
    const first = await until('it runs', async () => {
      const [session] = (await api.get<{ items: { worker?: string }[] }>('/sessions')).items;
      return existsSync(world.path('first')) && session;
    });

    await server.kill();
    sendSignal(Number.parseInt(world.read(`data/machines/${first.worker}/pid`), 10), 'SIGKILL');
    await startServer(world, place).ready();
    const { code, out } = await run.ended;

    expect({ code, out }).toEqual({ code: 0, out: listed(project) });
  });

  test('reaches a machine of a simulated cloud, where a relative directory means nothing without it', async (context) => {
    const world = openWorld(context);
    const aws = await serveAws(context, world);
    const place = await placeServer(world, {
      provisioners: [{ aws: { region: REGION, config_prefix: '/velda/pools/', update_interval: '1s' } }],
    });
    await startServer(world, place, aws.env).ready();
    await aws.put('/velda/pools/gpu-pool', JSON.stringify(gpuPool()));
    await until('it is a pool', () => apiOf(world, place.http).pool('gpu-pool'));
    const project = aProject(world);

    const ran = await runCli(world, ['run', '-p', 'gpu-pool', '--sync', project, '--', 'sh', '-c', LIST]);
    const refused = await runCli(world, ['run', '-p', 'gpu-pool', '-C', 'project', '--', 'true']);

    expect(ran).toMatchObject({ code: 0, out: listed(project) });
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('The working directory project is relative');
    expect(refused.err).toContain('--sync');
  });
});
