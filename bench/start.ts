import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { clearDataDir } from '../src/providers/process/testing.ts';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { childrenOf, memoryOf } from './parts/processes.ts';
import { withFolder } from './parts/scratch.ts';
import { type RunningServer, startServer } from './parts/server.ts';

const IDLE_MS = 5_000;
const MEGABYTE = 2 ** 20;

// As a server without a file has it, but on ports of its own.
const LOCAL_POOL = {
  name: 'local',
  auto_scaler: { backend: { process: {} }, max_agents: 2, min_idle_agents: 1, max_idle_agents: 2 },
};

/** Node itself, which does nothing. */
async function bareNode(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 10_000)'], { stdio: 'ignore' });
  await systemClock.sleep(1_000);
  const { rss } = memoryOf(child.pid ?? 0);
  child.kill('SIGKILL');
  return rss / MEGABYTE;
}

/** The local agents, by the numbers that they have left. */
function agentsOf({ dataDir }: RunningServer): number[] {
  const machines = join(dataDir, 'machines');
  return readdirSync(machines).map((name) => Number.parseInt(readFileSync(join(machines, name, 'pid'), 'utf8'), 10));
}

async function startOnce(folder: string): Promise<number> {
  const server = startServer({ folder, config: { agent_pools: [] } });
  const { afterMs } = await server.serving;
  await server.stop();
  return afterMs / 1_000;
}

async function run(report: Report): Promise<void> {
  await withFolder(async (folder) => {
    await startOnce(folder);
    const times: number[] = [];
    for (let n = 0; n < (report.isQuick ? 3 : 7); n++) times.push(await startOnce(folder));
    report.figure('start-time', median(times), { note: `best ${Math.min(...times).toFixed(2)} s` });
    const server = startServer({ folder, config: { agent_pools: [LOCAL_POOL] } });
    await server.serving;
    await systemClock.sleep(IDLE_MS);
    const { rss, own } = memoryOf(server.pid);
    const children = childrenOf(server.pid).length;
    const bare = await bareNode();
    const parts = `${Math.round(own / MEGABYTE)} MB its own, the rest files; bare Node ${Math.round(bare)} MB`;
    report.figure('start-memory', rss / MEGABYTE, { note: children > 0 ? `${parts}; ${children} children` : parts });
    const [agent] = agentsOf(server);
    if (agent !== undefined) report.figure('agent-memory-process', memoryOf(agent).rss / MEGABYTE);
    await server.stop();
    clearDataDir(server.dataDir);
  });
}

export const start: Bench = {
  name: 'start',
  measures: ['start-time', 'start-memory', 'agent-memory-process'],
  limitMs: 90_000,
  run,
};
