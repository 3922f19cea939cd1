import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { clearDataDir } from '../src/providers/process/testing.ts';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { memoryOf, wakesOf } from './parts/processes.ts';
import { withFolder } from './parts/scratch.ts';
import { type RunningServer, startServer } from './parts/server.ts';

const IDLE_MS = 5_000;
const QUICK_IDLE_MS = 2_000;
// After the first listings, the first agent and the garbage of the start.
const REST_AFTER_MS = 8_000;
const REST_MS = 20_000;
const QUICK_REST_MS = 5_000;
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

// As `npm start` has it.
const ENTRY = 'tools/muster.mjs';

async function timeToReady(folder: string): Promise<number> {
  const server = startServer({ folder, entry: ENTRY, config: { agent_pools: [] } });
  const { afterMs } = await server.serving;
  await server.stop();
  return afterMs / 1_000;
}

interface Idle {
  readonly rssMb: number;
  /** What no file backs. */
  readonly ownMb: number;
  readonly agentMb: number;
}

/** A server with one local agent, and nothing to do. */
async function idle(folder: string, forMs: number): Promise<Idle> {
  const server = startServer({ folder, entry: ENTRY, config: { agent_pools: [LOCAL_POOL] } });
  await server.serving;
  await systemClock.sleep(forMs);
  const { rss, own } = memoryOf(server.pid);
  const [agent = process.pid] = agentsOf(server);
  const agentMb = memoryOf(agent).rss / MEGABYTE;
  await server.stop();
  clearDataDir(server.dataDir);
  return { rssMb: rss / MEGABYTE, ownMb: own / MEGABYTE, agentMb };
}

/** The same server at rest: how much of a core it takes, and how often it wakes. */
async function atRest(folder: string, forMs: number): Promise<{ cpuPercent: number; wakesPerS: number }> {
  const server = startServer({ folder, entry: ENTRY, config: { agent_pools: [LOCAL_POOL] } });
  await server.serving;
  await systemClock.sleep(REST_AFTER_MS);
  const before = wakesOf(server.pid);
  await systemClock.sleep(forMs);
  const after = wakesOf(server.pid);
  await server.stop();
  clearDataDir(server.dataDir);
  const tookS = forMs / 1_000;
  return {
    cpuPercent: (after.ranNs - before.ranNs) / tookS / 1e7,
    wakesPerS: (after.wakes - before.wakes) / tookS,
  };
}

async function measure(folder: string, report: Report): Promise<void> {
  // Fills the compile cache and makes the agent's program.
  await timeToReady(folder);
  const times: number[] = [];
  for (let n = 0; n < (report.isQuick ? 2 : 7); n++) times.push(await timeToReady(folder));
  report.figure('start-time', median(times), { note: `best ${Math.min(...times).toFixed(2)} s` });
  const found: Idle[] = [];
  for (let n = 0; n < (report.isQuick ? 1 : 3); n++)
    found.push(await idle(folder, report.isQuick ? QUICK_IDLE_MS : IDLE_MS));
  const bare = Math.round(await bareNode());
  const own = Math.round(median(found.map(({ ownMb }) => ownMb)));
  const note = `${own} MB its own, the rest files; bare Node ${bare} MB`;
  report.figure('start-memory', median(found.map(({ rssMb }) => rssMb)), { note });
  report.figure('agent-memory-process', median(found.map(({ agentMb }) => agentMb)));
  const { cpuPercent, wakesPerS } = await atRest(folder, report.isQuick ? QUICK_REST_MS : REST_MS);
  report.figure('rest-cpu', cpuPercent);
  report.figure('rest-wakes', wakesPerS);
}

async function run(report: Report): Promise<void> {
  await withFolder((folder) => measure(folder, report));
}

export const bench: Bench = {
  order: 130,
  name: 'start',
  measures: ['start-time', 'start-memory', 'agent-memory-process', 'rest-cpu', 'rest-wakes'],
  limitMs: 150_000,
  run,
};
