import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Bench, Report } from './bench.ts';
import { percentile } from './parts/numbers.ts';
import { freePortPair } from './parts/ports.ts';
import { cpuOf } from './parts/processes.ts';
import { type Program, startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import { type RunningServer, startServer } from './parts/server.ts';
import { type Database, onEachStore } from './parts/stores.ts';
import type { AgentCalls } from './programs/agents.ts';
import type { CallerCalls, Calling } from './programs/callers.ts';

const POOL = 'bench';
const AGENTS = 100;
const SLOTS = 100;
const CALLERS = 64;
const WARM_MS = 1_500;
const QUICK_WARM_MS = 500;

const MANUAL_POOL = { name: POOL, agent_auth: 'network', agent_networks: ['127.0.0.0/8'] };

interface World {
  readonly server: RunningServer;
  readonly agents: Program<AgentCalls>;
  readonly callers: Program<CallerCalls>;
  readonly calling: Pick<Calling, 'host' | 'port' | 'token' | 'pool' | 'callers'>;
}

interface Load {
  readonly sessionsPerPost: number;
  readonly postsPerS?: number;
}

interface Spans {
  readonly warmMs: number;
  readonly forMs: number;
}

interface Seen {
  /** Told to agents, each second. */
  readonly rate: number;
  readonly delaysMs: readonly number[];
  /** Processor time of the server for each session. */
  readonly cpuUs: number;
}

async function openWorld(folder: string, { kind, url }: Database): Promise<World & { close(): Promise<void> }> {
  const store = kind === 'postgres' ? { store: url, httpPort: await freePortPair() } : {};
  const server = startServer({ folder, ...store, config: { agent_pools: [MANUAL_POOL] } });
  const agents = startProgram<AgentCalls>('agents');
  const callers = startProgram<CallerCalls>('callers');
  const { http, grpc } = await server.serving;
  await agents.ask('join', { address: grpc, pool: POOL, count: AGENTS, slots: SLOTS });
  const { hostname: host, port } = new URL(http);
  return {
    server,
    agents,
    callers,
    calling: { host, port: Number(port), token: server.token(), pool: POOL, callers: CALLERS },
    async close() {
      await Promise.all([agents.end(), callers.end()]);
      await server.stop();
    },
  };
}

/** Callers and agents for a while; every session that was accepted must have been told. */
async function load(world: World, { sessionsPerPost, postsPerS }: Load, { warmMs, forMs }: Spans): Promise<Seen> {
  const { server, callers, calling } = world;
  const asked = { ...calling, sessionsPerPost, postsPerS };
  await callers.ask('call', { ...asked, forMs: warmMs });
  await settle(world, undefined);
  const beforeUs = cpuOf(server.pid);
  const { accepted, tookMs } = await callers.ask('call', { ...asked, forMs });
  const heard = await settle(world, accepted);
  const usedUs = cpuOf(server.pid) - beforeUs;
  return { rate: (heard.length / tookMs) * 1_000, delaysMs: heard, cpuUs: usedUs / accepted };
}

/** Waits until all have been told that were accepted, or no more are. */
async function settle({ agents }: World, accepted: number | undefined): Promise<readonly number[]> {
  const delaysMs: number[] = [];
  for (let quietTimes = 0; quietTimes < 5; ) {
    const heard = await agents.ask('take', undefined);
    for (const delayMs of heard.delaysMs) delaysMs.push(delayMs);
    quietTimes = heard.started === 0 ? quietTimes + 1 : 0;
    if (delaysMs.length === accepted) return delaysMs;
    await systemClock.sleep(50);
  }
  if (accepted !== undefined && delaysMs.length !== accepted)
    throw new Fault('internal', `${accepted} sessions were accepted, and ${delaysMs.length} reached an agent.`);
  return delaysMs;
}

async function measure(world: World, variant: string, report: Report): Promise<void> {
  const spans = report.isQuick ? { warmMs: QUICK_WARM_MS, forMs: 1_500 } : { warmMs: WARM_MS, forMs: 6_000 };
  const single = await load(world, { sessionsPerPost: 1 }, spans);
  report.figure('session-rate-single', single.rate, { variant });
  report.figure('session-cpu-single', single.cpuUs, { variant });
  report.figure('session-delay-p50', percentile(single.delaysMs, 0.5), { variant });
  report.figure('session-delay-p99', percentile(single.delaysMs, 0.99), { variant });
  const half = await load(world, { sessionsPerPost: 1, postsPerS: single.rate / 2 }, spans);
  report.figure('session-delay-half-p50', percentile(half.delaysMs, 0.5), { variant });
  report.figure('session-delay-half-p99', percentile(half.delaysMs, 0.99), { variant });
  const tens = await load(world, { sessionsPerPost: 10 }, spans);
  report.figure('session-rate-list-10', tens.rate, { variant });
  report.figure('session-cpu-list-10', tens.cpuUs, { variant });
  const hundreds = await load(world, { sessionsPerPost: 100 }, spans);
  report.figure('session-rate-list-100', hundreds.rate, { variant });
  report.figure('session-cpu-list-100', hundreds.cpuUs, { variant });
}

async function run(report: Report): Promise<void> {
  await onEachStore((database) =>
    withFolder(async (folder) => {
      const world = await openWorld(folder, database);
      await measure(world, database.kind, report);
      await world.close();
    }),
  );
}

export const bench: Bench = {
  order: 30,
  name: 'sessions',
  measures: [
    'session-rate-single',
    'session-cpu-single',
    'session-delay-p50',
    'session-delay-p99',
    'session-delay-half-p50',
    'session-delay-half-p99',
    'session-rate-list-10',
    'session-cpu-list-10',
    'session-rate-list-100',
    'session-cpu-list-100',
  ],
  limitMs: 180_000,
  run,
};
