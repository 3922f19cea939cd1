// The same composition as the program's, on a virtual clock, with simulated clouds, agents, sources and callers.
import { silentLog } from '#core/log.ts';
import { seededRandom } from '#core/random.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Disk, emptyDisk } from '#store/memory.ts';
import type { AgentQuirks } from './agent.ts';
import { type SimCloud, simCloud } from './backend.ts';
import { type Chance, chanceFrom } from './chance.ts';
import { cloudWeather } from './cloud-weather.ts';
import { type CrashPoint, openCrashes } from './crashes.ts';
import { type Definition, type Definitions, openDefinitions, someDefinition } from './definitions.ts';
import { type FaultRates, NO_FAULTS, openWeather, type Weather } from './faults.ts';
import { countMachines, countWaits, type Figures, openFigures } from './figures.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { type Happenings, openHappenings } from './happenings.ts';
import { type Invariants, openInvariants } from './invariants.ts';
import { type Laws, openLaws } from './laws/laws.ts';
import type { Life, LifeHooks } from './life.ts';
import { type Load, openLoad } from './load.ts';
import { type Network, openNetwork } from './network.ts';
import { openServer, type Server } from './server.ts';
import { workOf } from './work.ts';

export interface WorldOptions {
  readonly seed: number;
  /** How many, chosen by the seed, or just these. */
  readonly pools?: number | readonly Definition[];
  readonly faults?: FaultRates;
  readonly sessionsPerPoolHour?: number;
  readonly meanSessionMs?: number;
  readonly crashAt?: CrashPoint | undefined;
  /** From an earlier world; its secrets are costly to make. */
  readonly disk?: Disk;
  /** Broken parts, for the tests of the invariants. */
  readonly quirks?: AgentQuirks;
  readonly sabotage?: Pick<LifeHooks, 'wrapBackend' | 'wrapDriver'>;
}

export interface World {
  readonly clock: VirtualClock;
  readonly disk: Disk;
  readonly weather: Weather;
  readonly regions: ReadonlyMap<string, SimCloud>;
  readonly network: Network;
  readonly fleet: Fleet;
  readonly definitions: Definitions;
  readonly load: Load;
  readonly laws: Laws;
  readonly invariants: Invariants;
  readonly happenings: Happenings;
  readonly figures: Figures;
  readonly server: Server;
  /** Absent while the server is down. */
  readonly life: Life | undefined;
  chance(stream: number): Chance;
  /** Lets time pass, but no further than the first break. */
  advance(ms: number): Promise<void>;
}

const STREAMS = { agents: 1, network: 2, load: 3, definitions: 4, disk: 5, pools: 6, regions: 100, lives: 10_000 };
const STEP_MS = 60_000;
const POOLS_A_REGION = 50;

function someRegions(count: number): readonly string[] {
  return Array.from({ length: Math.max(2, Math.ceil(count / POOLS_A_REGION)) }, (_, at) => `region-${at + 1}`);
}

function poolsOf({ pools = 5 }: WorldOptions, chance: Chance): readonly Definition[] {
  if (typeof pools !== 'number') return pools;
  const digits = String(pools).length;
  const regions = someRegions(pools);
  return Array.from({ length: pools }, (_, at) =>
    someDefinition(`pool-${String(at + 1).padStart(digits, '0')}`, regions, chance),
  );
}

/** Opens the world and starts the server in it. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const { seed, faults = NO_FAULTS } = options;
  const clock = new VirtualClock();
  const chance = (stream: number): Chance => chanceFrom(seededRandom(seed * 1_000_003 + stream));
  const weather = openWeather(faults);
  const happenings = openHappenings(clock);
  const invariants = openInvariants(clock, happenings);
  const figures = openFigures();
  const waits = countWaits(figures, clock);
  const disk = options.disk ?? emptyDisk();
  const definitions = openDefinitions({ clock, chance: chance(STREAMS.definitions), weather });
  const regions = new Map<string, SimCloud>();
  const laws = openLaws({
    invariants,
    clock,
    disk,
    agentOn: (machine) => fleet.agents.get(machine),
    exists: (machine) => regions.values().some((region) => region.has(machine)),
    ended: ({ id }) => waits.ended(id),
    isFair: faults === NO_FAULTS,
  });
  const network = openNetwork({
    clock,
    chance: chance(STREAMS.network),
    mostLatencyMs: 40,
    sending: (agent, command) => laws.durability.sending(agent, command),
  });
  const fleet: Fleet = openFleet({
    clock,
    chance: chance(STREAMS.agents),
    weather,
    network,
    happenings,
    quirks: options.quirks ?? {},
    started(run, agent) {
      laws.runs.started(run, agent);
      waits.started(run.session);
      happenings.note('session started', `${run.session} attempt ${run.attempt} on ${agent.name}`);
    },
    ended(run, agent) {
      happenings.note('session over', `${run.session} attempt ${run.attempt} on ${agent.name}`);
    },
    gone: (agent) => happenings.note('agent gone', agent.name),
  });
  const load = openLoad({
    clock,
    chance: chance(STREAMS.load),
    sessionsPerPoolHour: options.sessionsPerPoolHour ?? 20,
    meanMs: options.meanSessionMs ?? 120_000,
    isMoody: faults !== NO_FAULTS,
    pools: () => definitions.names(),
    accepted(sessions, job) {
      laws.accepted(sessions, job.key);
      waits.accepted(sessions);
      for (const { spec, pool } of sessions) {
        figures.neededMs += workOf(spec).durationMs / (disk.rows.get('pools')?.get(pool) ? laws.slotsOf(pool) : 1);
      }
    },
  });
  const crashes = openCrashes({ clock, chance: chance(STREAMS.disk), weather, at: options.crashAt });
  const server = openServer({
    clock,
    chance,
    stream: STREAMS.lives,
    log: silentLog,
    disk,
    regions,
    definitions,
    network,
    load,
    laws,
    crashes,
    figures,
    happenings,
    sabotage: options.sabotage ?? {},
  });
  const pools = poolsOf(options, chance(STREAMS.pools));
  for (const pool of pools) definitions.write(pool);
  const names = new Set(pools.flatMap((pool) => pool.regions));
  for (const [at, name] of [...names].toSorted().entries()) regions.set(name, openRegion(at, name));

  function openRegion(at: number, name: string): SimCloud {
    const own = chance(STREAMS.regions + at);
    const region = simCloud({
      clock,
      cloud: name,
      bootMs: () => (weather.strikes('slow-boot', own) ? own.between(2, 12) * 60_000 : own.between(10_000, 50_000)),
      answerMs: 200,
      listLagMs: weather.rate('late-list') > 0 ? own.between(0, 8_000) : 0,
      dyingMs: own.between(1_000, 20_000),
      deletingMs: own.between(0, 10_000),
      keepsCalls: false,
    });
    if (weather.rate('late-list') > 0) weather.count('late-list');
    const script = cloudWeather({ clock, chance: own, weather, crash: () => server.crash('at a call') });
    region.script = (call) => {
      figures.calls += 1;
      const point = crashes.atCall();
      if (point) server.crash('at a call');
      return point ? { is: 'hang', isDone: point.isDone } : script(call);
    };
    const mark = { cluster: 'another', pool: 'theirs', shape: 'theirs' };
    region.add({ name: `foreign-${name}`, mark, createdAt: clock.now(), state: 'running' });
    laws.machines.watch(region);
    countMachines(figures, clock, region);
    fleet.watch(region);
    return region;
  }

  await Promise.race([server.start(), clock.advance(1_000)]);
  return {
    clock,
    disk,
    weather,
    regions,
    network,
    fleet,
    definitions,
    load,
    laws,
    invariants,
    happenings,
    figures,
    server,
    get life() {
      return server.life;
    },
    chance,
    async advance(ms) {
      const endMs = clock.monotonic() + ms;
      while (clock.monotonic() < endMs && !invariants.firstBreak) {
        await clock.advance(Math.min(STEP_MS, endMs - clock.monotonic()));
      }
    },
  };
}
