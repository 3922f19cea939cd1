import { mkdirSync, readdirSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { until } from '#core/testing/until.ts';
import { apiOf } from './harness/api.ts';
import { runCli } from './harness/cli.ts';
import { placeServer, processPool, type RunningServer, startServer } from './harness/server.ts';
import { carryOut, type Piece, pieceOfWork } from './harness/work.ts';
import { openWorld } from './harness/world.ts';

const AGENTS = 5;
const SLOTS = 4;
// Twenty in `npm run test:long`.
const DEATHS = inject('sliceStride') === 1 ? 20 : 8;

/** When the server of that life dies: some while they start, most at some point of serving. */
async function liveAWhile(server: RunningServer, life: number): Promise<void> {
  if (life % 3 === 2) return systemClock.sleep(150 + ((life * 97) % 700));
  await server.ready();
  await systemClock.sleep((life * 53) % 500);
}

test('kill -9 of the server, again and again under twenty sessions: none runs twice or is lost, and nothing leaks', async (context) => {
  const world = openWorld(context);
  mkdirSync(world.path('work'));
  const scaler = { slots: SLOTS, max_agents: AGENTS, max_idle_agents: AGENTS * SLOTS, idle_decay: '1h' };
  const pools = (more: object) => ({ agent_pools: [processPool(world, 'local', { ...scaler, ...more })] });
  const place = await placeServer(world, pools({ min_agents: AGENTS }));
  const api = apiOf(world, place.http);
  const done: { piece: Piece; exitCode: number | undefined; output: string }[] = [];
  let number = 0;
  let isKilling = true;

  async function caller(): Promise<void> {
    while (isKilling) {
      const piece = pieceOfWork(world, 'local', number++);
      const session = await carryOut(api, piece);
      const output = await until('its output', () => api.output(session.id));
      done.push({ piece, exitCode: session.end?.exit_code, output });
    }
  }

  let server = startServer(world, place);
  await server.ready();
  const callers = Array.from({ length: AGENTS * SLOTS }, caller);
  await until('twenty sessions have started', () => readdirSync(world.path('work')).length >= AGENTS * SLOTS);
  for (let life = 0; life < DEATHS; life++) {
    await liveAWhile(server, life);
    await server.kill();
    server = startServer(world, place);
  }
  await server.ready();
  isKilling = false;
  await Promise.all(callers);

  expect(done.length).toBeGreaterThanOrEqual(20);
  for (const { piece, exitCode, output } of done) {
    expect.soft({ of: piece.key, trace: world.lines(piece.file) }).toEqual({ of: piece.key, trace: ['start', 'end'] });
    expect.soft({ of: piece.key, exitCode }).toEqual({ of: piece.key, exitCode: piece.exitCode });
    expect.soft(output, piece.key).toBe(piece.output);
  }
  // A server that dies between an end and its acknowledgement finds that slot still taken: who was to have it next waits again.
  const requeued = (await api.events('session.requeued')).map(({ message }) => message);
  expect(requeued.filter((why) => why !== 'The agent reconnected without a free slot for the session.')).toEqual([]);
  const workers = (await api.workers()).map(({ name }) => name);
  expect(workers).toHaveLength(AGENTS);
  expect(world.agents().toSorted()).toEqual(workers.toSorted());

  place.configure(pools({ max_agents: 0, max_idle_agents: 0 }));
  await until('the pool is empty', async () => (await api.workers()).length === 0);

  const left = world.living().filter(({ pid }) => pid !== server.pid);
  expect(left).toEqual([]);
  const shown = await runCli(world, ['worker', 'ls', '-o', 'json']);
  expect(JSON.parse(shown.out)).toEqual([]);
});
