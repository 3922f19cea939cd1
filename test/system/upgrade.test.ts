import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import type { Plan, Why } from '../../src/api/wire/pool.ts';
import { type Api, apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, processPool, startServer } from './harness/server.ts';
import { openWorld, ROOT, type World } from './harness/world.ts';

// The last commit before machines, kinds and decisions took their present form.
const PREVIOUS = 'cd3871e7ca695579d1f20c7cd4255d360849a213';
const hasPrevious = spawnSync('git', ['cat-file', '-e', PREVIOUS], { cwd: ROOT, stdio: 'ignore' }).status === 0;
const title = hasPrevious
  ? 'a server takes over the store, the agents and the running sessions of the previous version'
  : `upgrade from the previous version (skipped: this clone lacks commit ${PREVIOUS})`;

const AGENTS = 2;
// $1 ends it. Prints numbers as long as it lives.
const COUNTING = 'n=0; until [ -e "$1" ]; do n=$((n + 1)); echo "line $n"; sleep 0.05; done; exit 4';

/** The program as it was then, with the packages that are installed now. */
function previousProgram(world: World): string {
  const folder = world.path('previous');
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', PREVIOUS, 'src', 'package.json', 'proto'], {
    cwd: ROOT,
    maxBuffer: 2 ** 28,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src/main.ts');
}

const launchedBy = async (api: Api): Promise<string[]> => (await api.workers()).map(({ name }) => name).toSorted();

test.skipIf(!hasPrevious)(title, async (context) => {
  const world = openWorld(context);
  const pool = processPool(world, 'local', { slots: 2, min_agents: AGENTS, max_agents: 4, idle_decay: '1h' });
  const place = await placeServer(world, { agent_pools: [pool] }, { isFirstStart: true });
  const api = apiOf(world, place.http);

  const before = await startServer(world, place, {}, previousProgram(world)).ready();
  await until('its agents are in', async () => (await api.pool('local')).workers.idle === AGENTS);
  const past = await api.submit({ pool: 'local', command: ['sh', '-c', 'echo done; exit 3'] });
  await until('the first session has ended', async () => (await api.session(past.id)).end);
  const running = await Promise.all(
    [1, 2, 3].map(() => api.submit({ pool: 'local', command: ['sh', '-c', COUNTING, 'x', world.path('stop')] })),
  );
  for (const { id } of running) await until('it runs', async () => (await api.output(id)).includes('line 2\n'));
  const placed = await Promise.all(running.map(({ id }) => api.session(id)));
  const workers = await launchedBy(api);
  const agents = world.agents().toSorted();
  const decided = (await api.get<Why>('/pools/local/why')).decisions;
  const events = (await api.events()).map(({ id }) => id);
  await before.kill();

  await startServer(world, place).ready();
  const servedAt = systemClock.now();
  for (const { id } of running) await until('it goes on', async () => (await api.session(id)).phase === 'running');
  const heard = await Promise.all(running.map(async ({ id }) => (await api.output(id)).length));
  for (const [at, { id }] of running.entries())
    await until('its output goes on', async () => (await api.output(id)).length > (heard[at] ?? 0));
  const again = await Promise.all(running.map(({ id }) => api.session(id)));
  const next = await api.submit({ pool: 'local', command: ['sh', '-c', 'exit 6'] });
  const afterwards = await until('a new session ends', async () => (await api.session(next.id)).end);
  world.write('stop', '');
  const ends = await Promise.all(running.map(({ id }) => until('it ends', async () => (await api.session(id)).end)));

  expect(again.map(({ worker, attempt }) => ({ worker, attempt }))).toEqual(
    placed.map(({ worker, attempt }) => ({ worker, attempt })),
  );
  expect(afterwards.exit_code).toBe(6);
  expect(ends.map(({ exit_code: code }) => code)).toEqual([4, 4, 4]);
  for (const { id } of running) {
    const lines = (await api.output(id)).split('\n').slice(0, -1);
    expect(lines).toEqual(lines.map((_, at) => `line ${at + 1}`));
  }
  expect((await api.session(past.id)).end).toMatchObject({ exit_code: 3 });
  expect(await api.output(past.id)).toBe('done\n');

  const shown = (await api.get<Why>('/pools/local/why?limit=200')).decisions;
  expect(shown.map(({ id }) => id)).toEqual(expect.arrayContaining(decided.map(({ id }) => id)));
  // Of a decision that is taken again and again the newest figures are shown, which are in memory alone.
  const acting = decided.filter(({ repeats }) => !repeats);
  expect(acting.length).toBeGreaterThan(0);
  for (const { id, did, why } of acting) expect(shown.find((one) => one.id === id)).toMatchObject({ did, why });
  expect((await api.events()).map(({ id }) => id)).toEqual(expect.arrayContaining(events));

  await until('a decision of the new server', async () => {
    const [newest] = (await api.get<Why>('/pools/local/why')).decisions;
    return Date.parse(newest?.last_at ?? newest?.at ?? '') > servedAt;
  });
  expect((await api.get<Plan>('/pools/local/plan')).actions).toEqual([]);
  expect(await launchedBy(api)).toEqual(workers);
  expect(world.agents().toSorted()).toEqual(agents);
  const cli = await runCli(world, ['worker', 'ls', '-o', 'json'], { MUSTER_ADDRESS: `http://127.0.0.1:${place.http}` });
  expect((JSON.parse(cli.out) as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(workers);
});
