// `--sync` with replicas on PostgreSQL: the one that takes over has the same bytes.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { sendSignal } from '#host/processes.ts';
import { sharedPostgres } from '../../src/store/testing/postgres.ts';
import { apiOf } from '../system/harness/api.ts';
import { runCli } from '../system/harness/cli.ts';
import { placeServer, processPool, startServer } from '../system/harness/server.ts';
import { openWorld, type World } from '../system/harness/world.ts';

const SUMS = "find . -type f -exec sha256sum {} + | sort -k 2; find . -mindepth 1 -printf '%P %y %m %l\\n' | sort";
// The first attempt destroys its own copy.
const TWICE = `if [ -e "$0/first" ]; then ${SUMS}; else touch "$0/first"; rm -rf ./*; sleep 1000; fi`;

function aFolder(world: World): { readonly path: string; readonly sums: string } {
  const path = world.path('project');
  mkdirSync(path);
  // Several pieces in PostgreSQL, one, and none.
  for (const [name, bytes] of Object.entries({ model: 3_000_001, data: 1_000, empty: 0 }))
    writeFileSync(`${path}/${name}`, randomBytes(bytes));
  return { path, sums: execFileSync('sh', ['-c', SUMS], { cwd: path, encoding: 'utf8' }) };
}

test('a replica that takes over gives a retried and a queued session the bytes that the dead one was sent', async (context) => {
  const world = openWorld(context);
  const url = await (await sharedPostgres()).database();
  const pool = processPool(world, 'local', { max_agents: 1 });
  const b = await placeServer(world, {}, { name: 'b' });
  const config = { store: url, default_broker_info: { address: `http://127.0.0.1:${b.grpc}` }, agent_pools: [pool] };
  const a = await placeServer(world, config, { name: 'a' });
  b.configure(config);
  const first = await startServer(world, a).ready();
  const second = startServer(world, b);
  await until('the other stands by', () => second.logged('listening').length > 0);
  const project = aFolder(world);
  const submit = async (...words: string[]): Promise<string> => {
    const { out } = await runCli(world, ['run', '--detach', '--retries', '1', '--sync', project.path, ...words]);
    return out.trim();
  };

  const retried = await submit('--', 'sh', '-c', TWICE, world.folder);
  const { worker } = await until(
    'it runs',
    async () => existsSync(world.path('first')) && apiOf(world, a.http).session(retried),
  );
  const queued = await submit('--', 'sh', '-c', SUMS);
  rmSync(project.path, { recursive: true });
  await first.kill();
  sendSignal(Number.parseInt(world.read(`data/machines/${worker}/pid`), 10), 'SIGKILL');
  await second.ready();
  const api = apiOf(world, b.http);
  const ends = [retried, queued].map((id) => until('it has ended', async () => (await api.session(id)).end));

  for (const end of await Promise.all(ends)) expect(end).toMatchObject({ how: 'exited', exit_code: 0 });
  for (const id of [retried, queued]) expect(await api.output(id)).toBe(project.sums);
  expect((await api.session(retried)).attempt).toBe(2);
  expect(globSync(world.path('data/files/??/*'))).toEqual([]);
});
