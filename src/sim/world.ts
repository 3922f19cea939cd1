// The same composition as the program's, on a virtual clock, with simulated clouds, agents, sources and callers.
import type { AgentQuirks } from './agent.ts';
import { type Arranged, openArranged } from './arranged.ts';
import type { Chance } from './chance.ts';
import { type CrashPoint, openCrashes } from './crashes.ts';
import { type Definition, type Definitions, openDefinitions, someDefinition } from './definitions.ts';
import { countWaits } from './figures.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { type Ground, type GroundOptions, openGround } from './ground.ts';
import { type Laws, openLaws } from './laws/laws.ts';
import type { Life, LifeHooks } from './life.ts';
import { type Load, openLoad } from './load.ts';
import { type Network, openNetwork } from './network.ts';
import { openRegions } from './regions.ts';
import { openServer, type Server } from './server.ts';
import { workOf } from './work.ts';

export interface WorldOptions extends GroundOptions {
  /** How many, chosen by the seed, or just these. */
  readonly pools?: number | readonly Definition[];
  /** On average over a day. */
  readonly sessionsPerPoolHour?: number;
  readonly meanSessionMs?: number;
  readonly crashAt?: CrashPoint | undefined;
  /** Every stored decision is computed again, however many there are. */
  readonly replaysAll?: boolean;
  /** Broken parts, for the tests of the invariants. */
  readonly quirks?: AgentQuirks;
  readonly sabotage?: Pick<LifeHooks, 'wrapBackend' | 'wrapDriver'>;
}

export interface World extends Ground {
  readonly network: Network;
  readonly fleet: Fleet;
  readonly definitions: Definitions;
  readonly load: Load;
  readonly arranged: Arranged;
  readonly laws: Laws;
  readonly server: Server;
  /** Absent while the server is down. */
  readonly life: Life | undefined;
  /** How many commits, calls and messages there were. */
  readonly points: Readonly<Record<CrashPoint['at'], number>>;
  /** Lets time pass, but not much further than the first break. */
  advance(ms: number): Promise<void>;
}

const STEP_MS = 60_000;
const POOLS_A_REGION = 50;
const MOST_LATENCY_MS = 40;

function poolsOf(count: number, chance: Chance): readonly Definition[] {
  const digits = String(count).length;
  const regions = Array.from({ length: Math.max(2, Math.ceil(count / POOLS_A_REGION)) }, (_, at) => `region-${at + 1}`);
  const nameOf = (at: number): string => `pool-${String(at + 1).padStart(digits, '0')}`;
  return Array.from({ length: count }, (_, at) => someDefinition(nameOf(at), regions, chance));
}

function somePools(ground: Ground, count: number): readonly Definition[] {
  const definitions = poolsOf(count, ground.chance('pools'));
  if (ground.isPlain) return definitions;
  const chance = ground.chance('parking');
  return definitions.map((definition) => ({ ...definition, parks: chance.pick([0, 1, 3]), updates: 'rolling' }));
}

/** Agents, callers and invariants: all that is there before the server is. */
function openSurroundings(ground: Ground, options: WorldOptions) {
  const { clock, draws, happenings, figures, existing } = ground;
  const waits = countWaits(figures, clock);
  const definitions = openDefinitions({ chance: ground.chance('definitions'), draws });
  const laws = openLaws({
    ...ground,
    replaysAll: options.replaysAll ?? false,
    agentOn: (machine) => fleet.agents.get(machine),
    exists: (machine) => existing.has(machine),
    ended: ({ id }) => waits.ended(id),
  });
  const network = openNetwork({ clock, chance: ground.chance('network'), mostLatencyMs: MOST_LATENCY_MS });
  const fleet: Fleet = openFleet({
    ...ground,
    chance: ground.chance('agents'),
    network,
    quirks: options.quirks ?? {},
    parks: (pool) => (definitions.get(pool)?.parks ?? 0) > 0,
    started(run, agent) {
      laws.runs.started(run, agent);
      waits.started(run.session);
      happenings.note('session started', `${run.session} attempt ${run.attempt} on ${agent.name}`);
    },
    ended: (run, agent) => happenings.note('session over', `${run.session} attempt ${run.attempt} on ${agent.name}`),
    gone: (agent) => happenings.note('agent gone', agent.name),
  });
  const load = openLoad({
    clock,
    chance: ground.chance('load'),
    sessionsPerPoolHour: options.sessionsPerPoolHour ?? 20,
    meanMs: options.meanSessionMs ?? 120_000,
    isMoody: !ground.isFair,
    pools: definitions.names,
    accepted(sessions, job) {
      laws.accepted(sessions, job.key);
      waits.accepted(sessions);
      for (const { spec, pool } of sessions) figures.neededMs += workOf(spec).durationMs / laws.slotsOf(pool);
    },
  });
  return { definitions, laws, network, fleet, load };
}

/** Opens a world and starts the server in it. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const ground = openGround(options);
  const { clock, invariants } = ground;
  const around = openSurroundings(ground, options);
  const crashes = openCrashes({ ...ground, chance: ground.chance('disk'), at: options.crashAt });
  const server = openServer({ ...ground, ...around, crashes, sabotage: options.sabotage ?? {} });
  const { pools = 5 } = options;
  const definitions = typeof pools === 'number' ? somePools(ground, pools) : pools;
  for (const definition of definitions) around.definitions.write(definition);
  const names = definitions.flatMap((definition) => definition.regions);
  const arranged = openArranged({ ...ground, ...around, takeOver: server.takeOver });
  openRegions(ground, { ...around, crashes, arranged, crash: server.crash }, names);
  void server.start();
  await clock.settle();
  return {
    ...ground,
    ...around,
    server,
    arranged,
    points: crashes.counts,
    get life() {
      return server.life;
    },
    async advance(ms) {
      const endMs = clock.monotonic() + ms;
      while (clock.monotonic() < endMs && !invariants.firstBreak) {
        await clock.advance(Math.min(STEP_MS, endMs - clock.monotonic()));
      }
    },
  };
}
