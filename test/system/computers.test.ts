// A computer with the real server, a real agent and the real command line, and a restart of the server in the middle.
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { freePort } from '#core/testing/free-port.ts';
import { until } from '#core/testing/until.ts';
import type { Computer } from '../../src/api/wire/computer.ts';
import { apiOf } from './harness/api.ts';
import { runCli, startCli } from './harness/cli.ts';
import { placeServer, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

/** A program that says hello on a port, outside of any session that forwards it. */
const HELLO = "require('net').createServer((s) => s.end('hello')).listen(Number(process.argv[1]), '127.0.0.1')";

/** All that opens something here: launch tokens, keys of agents, the token of the admin. */
function secretsIn({ folder, read }: World): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const keys = files.filter((name) => name.endsWith('/agent.key')).map((name) => read(name).trim());
  const texts = files.filter((name) => /\.(yaml|token|json)$|token$/.test(name)).map(read);
  return [...keys, ...new Set(texts.join('\n').match(/\bm[a-z]t_[\w-]{12,}/g) ?? [])];
}

test('a computer comes up, runs commands, carries files and ports, survives a restart of the server, and leaves nothing, no secret in a log either', async (context) => {
  const world = openWorld(context);
  const templates = { here: { backend: { process: { env: world.mark } } } };
  const place = await placeServer(world, { agent_pools: [], computers: { templates } });
  const first = await startServer(world, place).ready();
  const muster = (...words: readonly string[]) => runCli(world, ['computer', ...words]);

  const created = await muster('create', 'dev', '--template', 'here', '--ttl', '8h', '--wait');
  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/Computer dev is running, until /) });
  const secrets = secretsIn(world);
  expect(await muster('exec', 'dev', '--', 'sh', '-c', 'echo out; exit 3')).toMatchObject({ code: 3, out: 'out\n' });

  world.write('note', 'from here');
  expect(await muster('cp', world.path('note'), `dev:${world.path('there')}`)).toMatchObject({ code: 0 });
  expect(await muster('cp', 'dev:/etc/hosts', world.path('hosts'))).toMatchObject({ code: 0 });
  expect(readFileSync(world.path('there'), 'utf8')).toBe('from here');
  expect(readFileSync(world.path('hosts'), 'utf8')).toBe(readFileSync('/etc/hosts', 'utf8'));

  first.signal('SIGKILL');
  await first.ended;
  const second = await startServer(world, place).ready();
  const api = apiOf(world, place.http);
  await until('the agent is back', async () => (await api.get<Computer>('/computers/dev')).agent);

  const port = await freePort();
  const serving = startCli(world, ['computer', 'exec', 'dev', '--', process.execPath, '-e', HELLO, String(port)]);
  const forward = startCli(world, ['computer', 'port-forward', 'dev', `:${port}`]);
  const local = Number(await until('it forwards', () => /127\.0\.0\.1:(\d+) -> dev:/.exec(forward.out())?.[1]));
  await until('hello comes through', async () => (await text(connect(local, '127.0.0.1')).catch(() => '')) === 'hello');

  const { ends_at: before = '' } = await api.get<Computer>('/computers/dev');
  const { ends_at: after = '' } = await api.post<Computer>('/computers/dev/extend', { by: '2h' });
  expect(Date.parse(after) - Date.parse(before)).toBe(7_200_000);

  const removed = await muster('rm', 'dev', '--wait');
  expect(removed).toMatchObject({ code: 0, out: expect.stringContaining('Computer dev is gone.') });
  await api.request('/computers/dev', { method: 'DELETE' });
  const { items } = await api.get<{ items: Computer[] }>('/computers?all');
  expect(items).toMatchObject([{ name: 'dev', status: 'stopped', end: { why: expect.stringMatching(/^Removed by/) } }]);
  await Promise.all([serving.ended, forward.ended]);
  expect(world.agents()).toEqual([]);

  const logs = [first, second].map(({ logName }) => world.read(logName));
  expect(secrets.map((secret) => secret.slice(0, 4))).toEqual([expect.stringMatching(/^[0-9a-f]{4}$/), 'mat_', 'mlt_']);
  expect(logs.map((log) => log.includes('agent'))).toEqual([true, true]);
  expect(secrets.filter((secret) => logs.some((log) => log.includes(secret)))).toEqual([]);
  expect(logs.join('\n').match(/\bm[a-z]t_[\w-]{12,}/g)).toBeNull();
});
