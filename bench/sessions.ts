import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Bench, Report } from './bench.ts';
import { percentile } from './parts/numbers.ts';
import { freePortPair } from './parts/ports.ts';
import { cpuOf, machineCpuUs } from './parts/processes.ts';
import { type Program, startProgram } from './parts/program.ts';
import { withFolder } from './parts/scratch.ts';
import { type RunningServer, startServer } from './parts/server.ts';
import { type Database, onEachStore } from './parts/stores.ts';
import type { CallerCalls, Calling } from './programs/callers.ts';
import { FLEETS, type Fleet, MAIN_FLEET, SESSION_MEASURES, type SessionMeasureName } from './session-measures.ts';

const POOL = 'bench';
// V8's own threads, which compile and collect, took some 65 µs for each session after 8,000 of them, 10 µs after 20,000.
const WARM_SESSIONS = 20_000;
const QUICK_WARM_SESSIONS = 2_000;
const WARM_STEP_MS = 500;

const MANUAL_POOL = { name: POOL, agent_auth: 'network', agent_networks: ['127.0.0.0/8'] };

interface World {
  readonly fleet: Fleet;
  readonly server: RunningServer;
  readonly callers: Program<CallerCalls>;
  readonly calling: Pick<Calling, 'host' | 'port' | 'token' | 'pool' | 'callers'>;
}

interface Load {
  readonly sessionsPerPost: number;
  readonly postsPerS?: number;
  readonly waitsForAgent?: boolean;
}

interface Extent {
  readonly warmSessions: number;
  readonly forMs: number;
}

interface Seen {
  /** Sent to agents, each second. */
  readonly rate: number;
  readonly delaysMs: readonly number[];
  /** Processor time of the server, all its threads, for each session. */
  readonly cpuUs: number;
  /** How much of both cores everyone used meanwhile, and how much of one the server. */
  readonly note: string;
}

interface Opening {
  readonly folder: string;
  readonly database: Database;
  readonly fleet: Fleet;
}

async function openWorld({ folder, database, fleet }: Opening): Promise<World & { close(): Promise<void> }> {
  const { kind, url } = database;
  const store = kind === 'postgres' ? { store: url, httpPort: await freePortPair() } : {};
  const server = startServer({ folder, ...store, config: { agent_pools: [MANUAL_POOL] } });
  const callers = startProgram<CallerCalls>('callers');
  const { http, grpc } = await server.serving;
  await callers.ask('join', { address: grpc, pool: POOL, count: fleet.agents, slots: fleet.slots });
  const { hostname: host, port } = new URL(http);
  return {
    fleet,
    server,
    callers,
    calling: { host, port: Number(port), token: server.token(), pool: POOL, callers: fleet.callers },
    async close() {
      await callers.end();
      await server.stop();
    },
  };
}

/** Callers and agents for a while; every session that was accepted must have been sent. */
async function load(world: World, asks: Load, { warmSessions, forMs }: Extent): Promise<Seen> {
  const { server, callers, calling } = world;
  const asked = { ...calling, ...asks };
  for (let warm = 0; warm < warmSessions; )
    warm += (await callers.ask('call', { ...asked, forMs: WARM_STEP_MS })).accepted;
  await settle(world, undefined);
  const beforeUs = cpuOf(server.pid);
  const busyBeforeUs = machineCpuUs();
  const startMs = systemClock.monotonic();
  const { accepted } = await callers.ask('call', { ...asked, forMs });
  const heard = await settle(world, accepted);
  // Up to the last one that was sent to an agent: what waits in a queue when the callers stop is work too.
  const tookMs = systemClock.monotonic() - startMs;
  const usedUs = cpuOf(server.pid) - beforeUs;
  const shareOf = (us: number): string => `${Math.round(us / tookMs / 10)} %`;
  const note = `server ${shareOf(usedUs)} of a core, the machine ${shareOf(machineCpuUs() - busyBeforeUs)}`;
  return { rate: (heard.length / tookMs) * 1_000, delaysMs: heard, cpuUs: usedUs / accepted, note };
}

/** Waits until all that were accepted have been sent, or no more are. */
async function settle({ callers }: World, accepted: number | undefined): Promise<readonly number[]> {
  const delaysMs: number[] = [];
  for (let quietTimes = 0; quietTimes < 5; ) {
    const heard = await callers.ask('take', undefined);
    for (const delayMs of heard.delaysMs) delaysMs.push(delayMs);
    quietTimes = heard.started === 0 ? quietTimes + 1 : 0;
    if (delaysMs.length === accepted) return delaysMs;
    await systemClock.sleep(50);
  }
  if (accepted !== undefined && delaysMs.length !== accepted)
    throw new Fault('internal', `${accepted} sessions were accepted, and ${delaysMs.length} reached an agent.`);
  return delaysMs;
}

async function measureFleet(world: World, variant: string, report: Report): Promise<void> {
  const { fleet } = world;
  const extent = extentOf(report);
  const single = await load(world, { sessionsPerPost: 1, waitsForAgent: true }, extent);
  const { note } = single;
  report.figure(`session-cpu-${fleet.name}`, single.cpuUs, { variant, note });
  report.figure(`session-rate-${fleet.name}`, single.rate, { variant });
  report.figure(`session-delay-p50-${fleet.name}`, percentile(single.delaysMs, 0.5), { variant });
  report.figure(`session-delay-p99-${fleet.name}`, percentile(single.delaysMs, 0.99), { variant });
  if (fleet !== MAIN_FLEET) return;
  const half = await load(world, { sessionsPerPost: 1, postsPerS: single.rate / 2 }, extent);
  report.figure('session-delay-half-p50', percentile(half.delaysMs, 0.5), { variant });
  report.figure('session-delay-half-p99', percentile(half.delaysMs, 0.99), { variant });
  for (const count of [10, 100] as const) {
    const list = await load(world, { sessionsPerPost: count }, extent);
    report.figure(`session-rate-list-${count}`, list.rate, { variant });
    report.figure(`session-cpu-list-${count}`, list.cpuUs, { variant });
  }
}

const extentOf = ({ isQuick }: Report): Extent =>
  isQuick ? { warmSessions: QUICK_WARM_SESSIONS, forMs: 1_500 } : { warmSessions: WARM_SESSIONS, forMs: 6_000 };

async function run(report: Report): Promise<void> {
  await onEachStore(async (database) => {
    const fleets = database.kind === 'sqlite' ? FLEETS : [MAIN_FLEET];
    for (const fleet of fleets) {
      await withFolder(async (folder) => {
        const world = await openWorld({ folder, database, fleet });
        await measureFleet(world, database.kind, report);
        await world.close();
      });
    }
  });
}

export const bench: Bench = {
  order: 30,
  name: 'sessions',
  measures: Object.keys(SESSION_MEASURES) as SessionMeasureName[],
  limitMs: 600_000,
  run,
};
