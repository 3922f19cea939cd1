// Workers, clouds and the autoscaler as the server has them, in a world where time, machines and crashes are a script's.
import { byMachine } from '#access/admit-agent.ts';
import { type Clouds, openClouds } from '#clouds/clouds.ts';
import { openGate } from '#clouds/gate.ts';
import { Fault } from '#core/fault.ts';
import { type Log, silentLog } from '#core/log.ts';
import type { Pool } from '#core/pool.ts';
import type { Backend, Context, Kinds } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import type { Store } from '#core/store.ts';
import { aPool } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { type Journal, startJournal } from '#journal/journal.ts';
import type { MachinesDeps } from '#machines/owned-machines.ts';
import { type Machines, startMachines } from '#machines/machines.ts';
import type { Driver } from '#store/driver.ts';
import { type Disk, emptyDisk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import type { WorkersContext } from '#workers/context.ts';
import { openWorkers, type Times, type Workers } from '#workers/workers.ts';
import { type SimCloud, type SimCloudOptions, type SimMachine, simCloud, simKind } from '../backend.ts';
import { processClock } from '../process-clock.ts';
import { type SimAgents, simAgents } from './agents.ts';
import { type SimSessions, simSessions } from './sessions.ts';

/** One life of the server. */
export interface Life {
  readonly store: Store;
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly machines: Machines;
  readonly workers: Workers;
  /** What workers remember, for tests that look at it. */
  readonly context: WorkersContext;
  readonly sessions: SimSessions;
  kill(): void;
}

export interface WorldOptions {
  readonly pools?: readonly Pool[];
  readonly cloud?: Partial<SimCloudOptions>;
  readonly moreClouds?: Readonly<Record<string, SimCloud>>;
  /** Kinds of the test's own, on the world's cloud. */
  kinds?(cloud: SimCloud, isAlive: () => boolean): Kinds<Backend>;
  /** Asked at each start; absent: shapes are ids, as in the version before shapes. */
  offerShape?(): MachinesDeps['offerShape'];
  readonly slots?: number;
  readonly times?: Partial<Times>;
  readonly seed?: number;
  readonly log?: Log;
  readonly restoredAt?: number;
  doesBoot?(made: SimMachine): boolean;
  /** Called with each life's nth write; what it answers replaces the driver's own write. */
  readonly onWrite?: (nth: number, write: () => Promise<void>) => Promise<void>;
}

export interface World {
  readonly clock: VirtualClock;
  readonly cloud: SimCloud;
  readonly disk: Disk;
  readonly agents: SimAgents;
  /** The life that is, or was last. */
  readonly life: Life;
  start(): Promise<Life>;
  /** The process is gone, as after kill -9: nothing of it acts any more. */
  crash(): void;
  advance(ms: number): Promise<void>;
  set(pool: Pool): Promise<void>;
  /** What there is of a pool's workers: `2 idle, 1 busy`. */
  phases(pool?: string): string;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const clock = new VirtualClock();
  const cloud = simCloud({ clock, bootMs: 20_000, answerMs: 100, ...options.cloud });
  const disk = emptyDisk();
  const pools = options.pools ?? [aPool()];
  disk.rows.set('pools', new Map(pools.map((pool) => [pool.id, pool])));
  const agents = simAgents({
    clock,
    cloud,
    slots: options.slots ?? 1,
    poolName: (id) => (disk.rows.get('pools')?.get(id) as Pool | undefined)?.name ?? '',
    ...(options.doesBoot && { doesBoot: options.doesBoot }),
  });
  let life: Life | undefined;

  async function start(): Promise<Life> {
    life = await openLife({ clock, cloud, disk, agents, options });
    return life;
  }

  const world: World = {
    clock,
    cloud,
    disk,
    agents,
    get life() {
      return life as Life;
    },
    start,
    crash() {
      life?.kill();
      agents.connectTo(undefined);
    },
    advance: (ms) => clock.advance(ms),
    set: (pool) => world.life.store.commit([{ table: 'pools', id: pool.id, row: pool }]),
    phases: (pool = pools[0]?.id ?? '') => phasesOf(world.life, pool),
  };
  await start();
  return world;
}

interface LifeOptions {
  readonly clock: VirtualClock;
  readonly cloud: SimCloud;
  readonly disk: Disk;
  readonly agents: SimAgents;
  readonly options: WorldOptions;
}

function processDriver({ disk, options }: LifeOptions, isAlive: () => boolean): Driver {
  const driver = memoryDriver(disk);
  let writes = 0;
  return {
    ...driver,
    load: async () => ({ ...(await driver.load()), restoredAt: options.restoredAt }),
    async write(changes) {
      if (changes.length === 0) return;
      writes += 1;
      const write = (): Promise<void> => (isAlive() ? driver.write(changes) : new Promise(() => {}));
      await (options.onWrite ? options.onWrite(writes, write) : write());
      if (!isAlive()) await new Promise(() => {});
    },
  };
}

const TOKEN = 'token of ';

const launchOf = (token: string): string | undefined =>
  token.startsWith(TOKEN) ? token.slice(TOKEN.length) : undefined;

async function openLife(parts: LifeOptions): Promise<Life> {
  const { cloud, agents, options, disk } = parts;
  let isAlive = true;
  const clock = processClock(parts.clock, () => isAlive);
  const store = await openStore(
    processDriver(parts, () => isAlive),
    () => {},
  );
  const random = seededRandom((options.seed ?? 1) * 1_000 + disk.epoch);
  const log = options.log ?? silentLog;
  const journal = startJournal({ store, clock, random, log });
  const kinds = { sim: simKind(cloud, () => isAlive) };
  for (const [name, other] of Object.entries(options.moreClouds ?? {})) {
    Object.assign(kinds, { [name]: simKind(other, () => isAlive) });
  }
  Object.assign(
    kinds,
    options.kinds?.(cloud, () => isAlive),
  );
  const context = { cluster: store.cluster, clock, random, log } as Context;
  const clouds = openClouds({ kinds, context, gate: openGate({ store, clock, log }), clock, random, log });
  const { times } = options;
  const machines = startMachines({
    ...{ store, clock, random, log, journal, clouds, times, ...shapes(options) },
    launchToken: (launch) => `${TOKEN}${launch}`,
    verifyLaunchToken: launchOf,
  });
  const { workers, context: remembered } = openWorkers({
    machines,
    store,
    clock,
    random,
    log,
    journal,
    clouds,
    link: agents,
    admit: (request) => {
      const { pool, proof } = request;
      if (pool.spec.agentAuth === 'network') return {};
      if (pool.spec.agentAuth === 'machine') return byMachine(request);
      const launch = launchOf(proof.token ?? '');
      if (launch === undefined) throw new Fault('denied', 'No token.');
      return { launch };
    },
    boot: { agentConfig: ({ name }) => `pool: ${name}`, install: () => undefined },
    times,
  });
  const sessions = simSessions({ store, clock, agents });
  agents.connectTo({
    join: machines.join,
    leave: machines.leave,
    joined: sessions.joined,
    finished: sessions.finished,
  });
  return { store, journal, clouds, machines, workers, context: remembered, sessions, kill: () => (isAlive = false) };
}

function shapes({ offerShape }: WorldOptions): Pick<MachinesDeps, 'offerShape'> {
  const shape = offerShape?.();
  return shape ? { offerShape: shape } : {};
}

function phasesOf({ workers }: Life, pool: string): string {
  const { figures } = workers.plan(pool);
  const phases = [
    'launching',
    'booting',
    'idle',
    'busy',
    'returning',
    'draining',
    'lost',
    'parked',
    'deleting',
    'unknown',
  ];
  return phases.flatMap((phase) => (figures[phase] ? [`${figures[phase]} ${phase}`] : [])).join(', ') || 'none';
}
