import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Bench, Report } from './bench.ts';
import { type Program, startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import type { AgentCalls } from './programs/agents.ts';
import type { CallerCalls, Calling } from './programs/callers.ts';
import type { HolderCalls } from './programs/holder.ts';

const POOL = 'bench';
const AGENTS = 100;
// Room for all that the callers have under way: the queue stays short.
const SLOTS = 100;
const CALLERS = 8;
const SESSIONS_PER_POST = 100;
const MEGABYTE = 2 ** 20;
const KILOBYTE = 1_024;
// As in the bench of agents: the young generation would grow by what happened last.
const FLAGS = ['--expose-gc', '--max-semi-space-size=1'];

interface World {
  readonly folder: string;
  readonly holder: Program<HolderCalls>;
  readonly callers: Program<CallerCalls>;
  readonly calling: Omit<Calling, 'forMs'>;
}

async function openWorld(folder: string): Promise<World & { close(): Promise<void> }> {
  const config = join(folder, 'muster.json');
  const pool = { name: POOL, agent_auth: 'network', agent_networks: ['127.0.0.0/8'] };
  writeFileSync(config, JSON.stringify({ data_dir: folder, agent_pools: [pool] }));
  const holder = startProgram<HolderCalls>('holder', FLAGS);
  const agents = startProgram<AgentCalls>('agents');
  const callers = startProgram<CallerCalls>('callers');
  const { http, grpc } = await holder.ask('hold', { folder, config, isSecure: false });
  await agents.ask('join', { address: grpc, pool: POOL, count: AGENTS, slots: SLOTS });
  const { hostname: host, port } = new URL(http);
  const token = readFileSync(join(folder, 'admin.token'), 'utf8').trim();
  const to = { host, port: Number(port), token, pool: POOL };
  return {
    folder,
    holder,
    callers,
    calling: { ...to, callers: CALLERS, sessionsPerPost: SESSIONS_PER_POST },
    async close() {
      await Promise.all([agents.end(), callers.end(), holder.end()]);
    },
  };
}

/** At least so many sessions, to their end. */
async function runSessions({ holder, callers, calling }: World, count: number): Promise<number> {
  let accepted = 0;
  while (accepted < count) accepted += (await callers.ask('call', { ...calling, forMs: 1_000 })).accepted;
  for (let turn = 0; (await holder.ask('kept', undefined)).liveSessions > 0; turn++) {
    if (turn === 600) throw new Fault('internal', 'Sessions did not end within a minute.');
    await systemClock.sleep(100);
  }
  return accepted;
}

async function stateOf({ folder, holder }: World) {
  const { heap, rss } = await holder.ask('memory', undefined);
  const { liveRows, loggedBytes } = await holder.ask('kept', undefined);
  return { heap, rss, liveRows, loggedBytes, walBytes: statSync(join(folder, 'muster.db-wal')).size };
}

async function run(report: Report): Promise<void> {
  const count = report.isQuick ? 10_000 : 100_000;
  await withFolder(async (folder) => {
    const world = await openWorld(folder);
    // What is remembered for a while is full by then, and what they need is compiled.
    await runSessions(world, count / 5);
    const before = await stateOf(world);
    const accepted = await runSessions(world, count);
    const after = await stateOf(world);
    await world.close();
    const note = `${accepted.toLocaleString('en')} sessions`;
    report.figure('steady-heap', (after.heap - before.heap) / MEGABYTE, { note });
    report.figure('steady-rss', (after.rss - before.rss) / MEGABYTE);
    report.figure('steady-rows', after.liveRows - before.liveRows);
    report.figure('steady-log', (after.loggedBytes - before.loggedBytes) / KILOBYTE);
    report.figure('steady-wal', after.walBytes / MEGABYTE, {
      note: `${(before.walBytes / MEGABYTE).toFixed(1)} before`,
    });
  });
}

export const bench: Bench = {
  order: 45,
  name: 'steady',
  measures: ['steady-heap', 'steady-rss', 'steady-rows', 'steady-log', 'steady-wal'],
  limitMs: 300_000,
  run,
};
