import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import type { Bench, Report } from './bench.ts';
import { cpuOf } from './parts/processes.ts';
import { startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import type { AgentCalls } from './programs/agents.ts';
import type { HolderCalls } from './programs/holder.ts';

const POOL = 'bench';
const KILOBYTE = 1_024;
const SETTLE_MS = 1_000;
// The young generation grows to 32 MB by what happened last, not by who is connected: here it stays small.
const FLAGS = ['--expose-gc', '--max-semi-space-size=1'];

function writeConfig(folder: string): string {
  const file = join(folder, 'muster.json');
  const pool = { name: POOL, agent_auth: 'network', agent_networks: ['127.0.0.0/8'] };
  writeFileSync(file, JSON.stringify({ data_dir: folder, agent_pools: [pool] }));
  return file;
}

/** As much as `count` more agents take in a server that has as many already, and has loaded and compiled what they need. */
async function measure(folder: string, isSecure: boolean, count: number) {
  const holder = startProgram<HolderCalls>('holder', FLAGS);
  const agents = startProgram<AgentCalls>('agents');
  const { grpc, ca } = await holder.ask('hold', { folder, config: writeConfig(folder), isSecure });
  const joinMore = () => agents.ask('join', { address: grpc, ca, pool: POOL, slots: 1, count });
  const [startMs, startUs] = [systemClock.monotonic(), cpuOf(holder.pid)];
  await joinMore();
  const join = { tookS: (systemClock.monotonic() - startMs) / 1_000, cpuMs: (cpuOf(holder.pid) - startUs) / 1_000 };
  await systemClock.sleep(SETTLE_MS);
  const before = await holder.ask('memory', undefined);
  await joinMore();
  const after = await holder.ask('memory', undefined);
  await Promise.all([agents.end(), holder.end()]);
  const each = (bytes: number): number => bytes / count / KILOBYTE;
  const heap = each(after.heap - before.heap).toFixed(1);
  return {
    join,
    value: each(after.rss - before.rss),
    note: `${count} streams beside ${count} others; ${heap} KB of it heap`,
  };
}

async function run(report: Report): Promise<void> {
  const count = report.isQuick ? 300 : 1_000;
  const plain = await withFolder((folder) => measure(folder, false, count));
  report.figure('memory-agent', plain.value, { note: plain.note });
  report.figure('join-time', plain.join.tookS, { note: `the first ${count}, 50 at a time` });
  report.figure('join-cpu', plain.join.cpuMs);
  const secure = await withFolder((folder) => measure(folder, true, count));
  report.figure('memory-agent-tls', secure.value, { note: secure.note });
}

export const bench: Bench = {
  order: 60,
  name: 'agents',
  measures: ['memory-agent', 'memory-agent-tls', 'join-time', 'join-cpu'],
  limitMs: 120_000,
  run,
};
