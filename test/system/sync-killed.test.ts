// `--sync` with real servers that are killed: no session sees half a file.
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld, type World } from './harness/world.ts';

const SUMS = "find . -type f -exec sha256sum {} + | sort -k 2; find . -mindepth 1 -printf '%P %y %m %l\\n' | sort";
const UPLOAD = { 'content-type': 'application/octet-stream' };

const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const sumsIn = (folder: string): string => execFileSync('sh', ['-c', SUMS], { cwd: folder, encoding: 'utf8' });

/** A folder of files with random bytes, by their names. */
function aFolder(world: World, ...names: string[]): Record<string, Buffer> {
  mkdirSync(world.path('project'));
  const files = Object.fromEntries(names.map((name) => [name, randomBytes(3_000_000)]));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(world.path(`project/${name}`), bytes);
  return files;
}

test('a server is killed while files are at every step of their upload: sessions then see whole files alone', async (context) => {
  const world = openWorld(context);
  const place = await placeServer(world, { agent_pools: [processPool(world, 'local', { max_agents: 1 })] });
  const server = await startServer(world, place).ready();
  const api = apiOf(world, place.http);
  const files = aFolder(world, 'begun', 'half', 'sent', 'answered');
  const hashOf = (name: string): string => sumOf(files[name] ?? Buffer.alloc(0));
  const put = (name: string, body: Uint8Array | ReadableStream) =>
    api.request(`/files/${hashOf(name)}`, { method: 'PUT', headers: UPLOAD, body, duplex: 'half' } as RequestInit);
  const incoming = (): number[] =>
    globSync(world.path('data/files/incoming/*')).map((path) => readFileSync(path).length);
  /** A body that never ends. */
  const only = (piece: Uint8Array | undefined) => new ReadableStream({ start: (flow) => flow.enqueue(piece) });

  await put('answered', files.answered ?? Buffer.alloc(0));
  const cut = [put('begun', only(files.begun?.subarray(0, 1))), put('half', only(files.half?.subarray(0, 1_500_000)))];
  await until('both are coming in', () => incoming().sort().join() === '1,1500000');
  cut.push(put('sent', files.sent ?? Buffer.alloc(0)));
  const ended = Promise.allSettled(cut);
  server.signal('SIGKILL');
  await Promise.all([ended, server.ended]);
  await startServer(world, place).ready();

  const hashes = ['begun', 'half', 'answered'].map(hashOf);
  await until('what was cut short is removed', () => incoming().length === 0);
  expect(await api.post('/files/missing', { hashes })).toEqual({ missing: hashes.slice(0, 2) });
  for (const path of globSync(world.path('data/files/??/*'))) expect(sumOf(readFileSync(path))).toBe(basename(path));
  const ran = await runCli(world, ['run', '--sync', world.path('project'), '--', 'sh', '-c', SUMS]);
  expect(ran).toMatchObject({ code: 0, out: sumsIn(world.path('project')) });
});
