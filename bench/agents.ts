import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import type { Bench, Report } from './bench.ts';
import type { InUse } from './parts/memory.ts';
import { startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import type { AgentCalls } from './programs/agents.ts';
import type { CallerCalls } from './programs/callers.ts';
import type { HolderCalls } from './programs/holder.ts';

const POOL = 'bench';
const KILOBYTE = 1_024;
const SETTLE_MS = 1_000;
const FEW = 20;
// The young generation grows to 32 MB by what happened last, whoever is connected: here it stays small.
const FLAGS = ['--expose-gc', '--max-semi-space-size=1'];

/** Resident memory of the server in bytes, and what of it is heap. */
interface Found {
  readonly idle: InUse;
  readonly loaded: InUse;
}

interface Size {
  readonly count: number;
  readonly loadMs: number;
}

function writeConfig(folder: string): string {
  const file = join(folder, 'muster.json');
  const pool = { name: POOL, agent_auth: 'network', agent_networks: ['127.0.0.0/8'] };
  writeFileSync(file, JSON.stringify({ data_dir: folder, agent_pools: [pool] }));
  return file;
}

/** A server with that many agents: as they have just come, and after sessions. */
async function serve(folder: string, isSecure: boolean, { count, loadMs }: Size): Promise<Found> {
  const holder = startProgram<HolderCalls>('holder', FLAGS);
  const agents = startProgram<AgentCalls>('agents');
  const callers = startProgram<CallerCalls>('callers');
  const { http, grpc, ca } = await holder.ask('hold', { folder, config: writeConfig(folder), isSecure });
  await agents.ask('join', { address: grpc, ca, pool: POOL, slots: 1, count });
  const idle = await holder.ask('memory', undefined);
  const { hostname: host, port } = new URL(http);
  const token = readFileSync(join(folder, 'admin.token'), 'utf8').trim();
  const where = { host, port: Number(port), token, pool: POOL };
  await callers.ask('call', { ...where, callers: 16, sessionsPerPost: 10, forMs: loadMs });
  await systemClock.sleep(SETTLE_MS);
  const loaded = await holder.ask('memory', undefined);
  await Promise.all([agents.end(), callers.end(), holder.end()]);
  return { idle, loaded };
}

/** How much more a server with many agents takes than one with a few, which has loaded and compiled the same. */
async function measure(isSecure: boolean, { count, loadMs }: Size) {
  const few = await withFolder((folder) => serve(folder, isSecure, { count: FEW, loadMs }));
  const many = await withFolder((folder) => serve(folder, isSecure, { count: FEW + count, loadMs }));
  const each = (bytes: number): number => bytes / count / KILOBYTE;
  return {
    idle: each(many.idle.rss - few.idle.rss),
    loaded: each(many.loaded.rss - few.loaded.rss),
    note: `${count} streams; ${each(many.idle.heap - few.idle.heap).toFixed(1)} KB of it heap`,
  };
}

async function run(report: Report): Promise<void> {
  const size: Size = report.isQuick ? { count: 300, loadMs: 500 } : { count: 1_000, loadMs: 3_000 };
  const plain = await measure(false, size);
  report.figure('memory-agent', plain.idle, { note: plain.note });
  report.figure('memory-agent-loaded', plain.loaded);
  const secure = await measure(true, size);
  report.figure('memory-agent-tls', secure.idle, { note: secure.note });
  report.figure('memory-agent-tls-loaded', secure.loaded);
}

export const agents: Bench = {
  name: 'agents',
  measures: ['memory-agent', 'memory-agent-loaded', 'memory-agent-tls', 'memory-agent-tls-loaded'],
  limitMs: 120_000,
  run,
};
