// A world for tests of machines and workers: pools are rows, one simulated cloud has the machines, and the test says
// what goes wrong.
import type { Agent } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import type { Backend, Kinds } from '#core/provider.ts';
import { seededRandom } from '#core/random.ts';
import { aPool } from '#core/testing/pool.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { PlaneParts } from '#program/plane.ts';
import { type SimCloud, type SimCloudOptions, type SimMachine, simCloud, simKind } from './backend.ts';
import { chanceFrom } from './chance.ts';
import { diskWithSecrets, rowOn } from './disk.ts';
import type { Life, ServerHooks } from './server.ts';
import { openWorld, type World } from './world.ts';

export interface PoolWorldOptions extends Pick<ServerHooks, 'log' | 'startPlane'> {
  readonly pools?: readonly Pool[];
  readonly cloud?: Partial<SimCloudOptions>;
  /** Further clouds by their kind, on the world's clock. */
  moreClouds?(clock: VirtualClock): Readonly<Record<string, SimCloud>>;
  /** Kinds of the test's own, on the world's cloud. */
  kinds?(cloud: SimCloud, isAlive: () => boolean): Kinds<Backend>;
  /** Asked at each start; absent or false: shapes are ids, as in the version before shapes. */
  hasShapes?(): boolean;
  /** Further parts of the server. */
  readonly parts?: Partial<PlaneParts>;
  readonly slots?: number;
  /** When the world begins. */
  readonly startMs?: number;
  readonly seed?: number;
  readonly restoredAt?: number;
  doesBoot?(made: SimMachine): boolean;
  /** The name of an owner that is no pool. */
  ownerName?(id: string): string | undefined;
  /** Called with each life's nth write; what it answers replaces the driver's own write. */
  readonly onWrite?: (nth: number, write: () => Promise<void>) => Promise<void>;
}

export interface PoolWorld extends Omit<World, 'server'> {
  readonly cloud: SimCloud;
  /** All clouds, by their kind. */
  readonly clouds: Readonly<Record<string, SimCloud>>;
  /** The life that is, or was last. */
  readonly life: Life;
  start(): Promise<void>;
  crash(): void;
  advance(ms: number): Promise<void>;
  set(pool: Pool): Promise<void>;
  /** An agent of the test's own joins, without a stream. */
  join(...asked: Parameters<Life['machines']['join']>): Promise<Agent>;
  /** What there is of a pool's workers: `2 idle, 1 busy`. */
  phases(pool?: string): string;
}

const PHASES = [
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
// No test waits for agents to give up.
const LEASE_MS = 1e9;

export async function openPoolWorld(options: PoolWorldOptions = {}): Promise<PoolWorld> {
  const { pools = [aPool()], seed = 1, slots = 1, doesBoot = () => true } = options;
  const clock = new VirtualClock(options.startMs);
  const cloud = simCloud({ clock, bootMs: 20_000, answerMs: 100, ...options.cloud });
  const disk = await diskWithSecrets();
  disk.rows.set('pools', new Map(pools.map((pool) => [pool.id, pool])));
  disk.restoredAt = options.restoredAt;
  const clouds: PoolWorld['clouds'] = { sim: cloud, ...options.moreClouds?.(clock) };
  const world = openWorld({
    clock,
    disk,
    log: options.log,
    startPlane: options.startPlane,
    chance: () => chanceFrom(seededRandom(seed)),
    latency: { mostLatencyMs: 0, noticedWithinMs: 0 },
    random: (life) => seededRandom(seed * 1_000 + life),
    compose: ({ isAlive }) => ({
      kinds: { backends: backendsOf({ cloud, clouds }, options, isAlive), sources: {} },
      sources: [],
      features: [],
      agentConfig: ({ name }) => `pool: ${name}`,
      ...options.parts,
    }),
    ...(options.onWrite && { wrapDriver: hearWrites(options.onWrite) }),
  });
  const { server, agents } = world;
  const ownerName = (id: string): string => rowOn(disk, 'pools', id)?.name ?? options.ownerName?.(id) ?? '';

  cloud.onBoot((made) => {
    if (!made.launch || !doesBoot(made)) return;
    const { mark, boot } = made.launch;
    const file = { pool: ownerName(mark.owner), slots, leaseMs: LEASE_MS };
    agents.start({ name: made.machine.name, file, token: boot.token });
  });
  cloud.onGone(({ machine }, how) => agents.end(machine.name, how !== 'died'));

  /** Returns also where the server dies in its start, or waits for its disk. */
  const start = (): Promise<void> => Promise.race([server.start(), clock.settle()]);

  await start();
  return {
    ...world,
    cloud,
    clouds,
    get life() {
      return server.lastLife;
    },
    start,
    crash: () => server.crash('as asked'),
    advance: (ms) => clock.advance(ms),
    set: (pool) => server.lastLife.store.commit([{ table: 'pools', id: pool.id, row: pool }]),
    async join(hello, proof) {
      const { machines, sessions } = server.lastLife;
      const agent = await machines.join(hello, proof);
      sessions.agentJoined(agent.id, hello.executions);
      return agent;
    },
    phases: (pool = pools[0]?.id ?? '') => phasesOf(server.lastLife, pool),
  };
}

function backendsOf(
  { cloud, clouds }: Pick<PoolWorld, 'cloud' | 'clouds'>,
  options: PoolWorldOptions,
  isAlive: () => boolean,
): Kinds<Backend> {
  const simulated = Object.entries(clouds).map(([name, each]) => [name, simKind(each, isAlive)]);
  const kinds: Kinds<Backend> = { ...Object.fromEntries(simulated), ...options.kinds?.(cloud, isAlive) };
  if (options.hasShapes?.()) return kinds;
  // The server takes the id of an offer for its shape where it does not know the schema.
  const unknown = Object.entries(kinds).map(([name, kind]) => [name, { ...kind, config: undefined }]);
  return Object.fromEntries(unknown);
}

function hearWrites(onWrite: NonNullable<PoolWorldOptions['onWrite']>): NonNullable<ServerHooks['wrapDriver']> {
  return (driver, isAlive) => {
    let writes = 0;
    return {
      ...driver,
      async write(changes) {
        await onWrite(++writes, () => driver.write(changes));
        if (!isAlive()) await new Promise(() => {});
      },
    };
  };
}

function phasesOf({ store, workers }: Life, pool: string): string {
  // A removed pool is forgotten with its last worker.
  if (!store.view.pools.get(pool)) return 'none';
  const { figures } = workers.plan(pool);
  return PHASES.flatMap((phase) => (figures[phase] ? [`${figures[phase]} ${phase}`] : [])).join(', ') || 'none';
}
