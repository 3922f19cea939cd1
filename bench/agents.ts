import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import type { Bench, Report } from './bench.ts';
import { startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import type { AgentCalls } from './programs/agents.ts';
import type { CallerCalls } from './programs/callers.ts';
import type { HolderCalls } from './programs/holder.ts';

const POOL = 'bench';
const KILOBYTE = 1_024;
const LOAD_MS = 3_000;
const SETTLE_MS = 1_000;

interface Found {
  readonly idle: number;
  readonly loaded: number;
  readonly heap: number;
}

function writeConfig(folder: string): string {
  const file = join(folder, 'muster.json');
  const pool = { name: POOL, agent_auth: 'network', agent_networks: ['127.0.0.0/8'] };
  writeFileSync(file, JSON.stringify({ data_dir: folder, agent_pools: [pool] }));
  return file;
}

/** How much the server grows with each agent that connects, in KB of resident memory: idle, and after sessions. */
async function measure(folder: string, isSecure: boolean, count: number): Promise<Found> {
  const holder = startProgram<HolderCalls>('holder', ['--expose-gc']);
  const agents = startProgram<AgentCalls>('agents');
  const callers = startProgram<CallerCalls>('callers');
  const { http, grpc, ca } = await holder.ask('hold', { folder, config: writeConfig(folder), isSecure });
  const join = { address: grpc, ca, pool: POOL, slots: 1 };
  const { hostname: host, port } = new URL(http);
  const where = { host, port: Number(port), token: readToken(folder), pool: POOL };
  const load = async (): Promise<void> => {
    await callers.ask('call', { ...where, callers: 16, sessionsPerPost: 10, forMs: LOAD_MS });
    await systemClock.sleep(SETTLE_MS);
  };
  // The first ones load and compile what the others share.
  await agents.ask('join', { ...join, count: 20 });
  await load();
  const before = await holder.ask('memory', undefined);
  await agents.ask('join', { ...join, count });
  const idle = await holder.ask('memory', undefined);
  await load();
  const loaded = await holder.ask('memory', undefined);
  await Promise.all([agents.end(), callers.end(), holder.end()]);
  const each = (bytes: number): number => bytes / count / KILOBYTE;
  return {
    idle: each(idle.rss - before.rss),
    loaded: each(loaded.rss - before.rss),
    heap: each(idle.heap - before.heap),
  };
}

const readToken = (folder: string): string => readFileSync(join(folder, 'admin.token'), 'utf8').trim();

async function run(report: Report): Promise<void> {
  const count = report.isQuick ? 300 : 1_000;
  const plain = await withFolder((folder) => measure(folder, false, count));
  const note = ({ heap }: Found): string => `${count} streams; ${heap.toFixed(1)} KB of it heap`;
  report.figure('memory-agent', plain.idle, { note: note(plain) });
  report.figure('memory-agent-loaded', plain.loaded);
  const secure = await withFolder((folder) => measure(folder, true, count));
  report.figure('memory-agent-tls', secure.idle, { note: note(secure) });
  report.figure('memory-agent-tls-loaded', secure.loaded);
}

export const agents: Bench = {
  name: 'agents',
  measures: ['memory-agent', 'memory-agent-loaded', 'memory-agent-tls', 'memory-agent-tls-loaded'],
  limitMs: 120_000,
  run,
};
