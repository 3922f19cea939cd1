// A world that follows from its seed: simulated clouds, sources and callers, faults, and the laws that must hold.
import type { AgentQuirks } from './agent.ts';
import type { Chance } from './chance.ts';
import type { CrashPoint } from './crash-points.ts';
import { type Definition, type Definitions, openDefinitions, someDefinition } from './definitions.ts';
import { countWaits } from './figures.ts';
import { type Laws, openLaws } from './laws/laws.ts';
import { type Load, openLoad } from './load.ts';
import { type MachineFaults, openMachineFaults } from './machine-faults.ts';
import { openRegions } from './regions.ts';
import { openScheduledFaults, type ScheduledFaults } from './scheduled-faults.ts';
import type { Life } from './server.ts';
import { type Sabotage, watchedServer } from './watched-server.ts';
import { workOf } from './work.ts';
import { openWorld, type World } from './world.ts';
import { openWorldState, type WorldState, type WorldStateOptions } from './world-state.ts';

export interface SeededWorldOptions extends WorldStateOptions {
  /** How many, chosen by the seed, or just these. */
  readonly pools?: number | readonly Definition[];
  /** On average over a day. */
  readonly sessionsPerPoolHour?: number;
  readonly meanSessionMs?: number;
  readonly crashAt?: CrashPoint | undefined;
  /** Every stored decision is computed again, however many there are. */
  readonly replaysAll?: boolean;
  /** Every record is kept as long as by default. */
  readonly keepsHistory?: boolean;
  /** Broken parts, for the tests of the invariants. */
  readonly quirks?: AgentQuirks;
  readonly sabotage?: Sabotage;
}

export interface SeededWorld extends WorldState, Omit<World, 'clock'> {
  readonly definitions: Definitions;
  readonly load: Load;
  readonly machineFaults: MachineFaults;
  readonly scheduledFaults: ScheduledFaults;
  readonly laws: Laws;
  /** Absent while the server is down. */
  readonly life: Life | undefined;
  /** Another process takes the lease: nothing of the former holder counts any more but what has left it. */
  takeOver(afterMs: number): void;
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

function somePools(state: WorldState, count: number): readonly Definition[] {
  const definitions = poolsOf(count, state.chance('pools'));
  if (state.isPlain) return definitions;
  const chance = state.chance('parking');
  return definitions.map((definition) => ({ ...definition, parks: chance.pick([0, 1, 3]), updates: 'rolling' }));
}

/** The world with all that asks, watches and breaks in it, before any cloud is there. */
function openParts(state: WorldState, options: SeededWorldOptions) {
  const { clock, draws, eventLog, figures, existing } = state;
  const waits = countWaits(figures, clock);
  const definitions = openDefinitions({ chance: state.chance('definitions'), draws });
  const laws = openLaws({
    ...state,
    replaysAll: options.replaysAll ?? false,
    agentOn: (machine) => world.agents.all.get(machine),
    exists: (machine) => existing.has(machine),
    ended: ({ id }) => waits.ended(id),
  });
  const load = openLoad({
    clock,
    chance: state.chance('load'),
    sessionsPerPoolHour: options.sessionsPerPoolHour ?? 20,
    meanMs: options.meanSessionMs ?? 120_000,
    isMoody: !state.isFair,
    pools: definitions.names,
    accepted(sessions, job) {
      laws.accepted(sessions, job.key);
      waits.accepted(sessions);
      for (const { spec, pool } of sessions) figures.neededMs += workOf(spec).durationMs / laws.slotsOf(pool);
    },
  });
  // Machines draw from it too.
  const chance = state.chance('agents');
  const world: World = openWorld({
    ...watchedServer({
      ...state,
      definitions,
      load,
      laws,
      sabotage: options.sabotage ?? {},
      keepsHistory: options.keepsHistory,
    }),
    clock,
    disk: state.disk,
    draws,
    crashAt: options.crashAt,
    chance: (part) => (part === 'agents' ? chance : state.chance(part)),
    latency: { mostLatencyMs: MOST_LATENCY_MS },
    agents: {
      quirks: options.quirks ?? {},
      refuses: () => draws.strikes('refusal', chance),
      started(run, agent) {
        laws.runs.started(run, agent);
        waits.started(run.session);
        eventLog.note('session started', `${run.session} attempt ${run.attempt} on ${agent.name}`);
      },
      ended: (run, agent) => eventLog.note('session over', `${run.session} attempt ${run.attempt} on ${agent.name}`),
      gone: (agent) => eventLog.note('agent gone', agent.name),
    },
  });
  const parks = (pool: string): boolean => (definitions.get(pool)?.parks ?? 0) > 0;
  const machineFaults = openMachineFaults({ ...state, chance, agents: world.agents, parks });
  return { ...world, definitions, laws, load, machineFaults };
}

/** Opens a world and starts the server in it. */
export async function openSeededWorld(options: SeededWorldOptions): Promise<SeededWorld> {
  const state = openWorldState(options);
  const { clock, invariants, eventLog, figures } = state;
  const parts = openParts(state, options);
  const { server } = parts;
  const { pools = 5 } = options;
  const definitions = typeof pools === 'number' ? somePools(state, pools) : pools;
  for (const definition of definitions) parts.definitions.write(definition);

  function takeOver(afterMs: number): void {
    if (!server.end(afterMs)) return;
    eventLog.note('takeover');
    figures.requiredEvents.takeover += 1;
  }

  const scheduledFaults = openScheduledFaults({ ...state, ...parts, takeOver });
  const names = definitions.flatMap(({ regions }) => regions);
  openRegions(state, { ...parts, scheduledFaults, crash: server.crash }, names);
  void server.start();
  await clock.settle();
  return {
    ...state,
    ...parts,
    scheduledFaults,
    takeOver,
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
