// A large fleet: pools as the API defines them, and workers with their agents and machines.
import { SELF } from '#core/journal.ts';
import type { Agent } from '#core/machine.ts';
import { put, type Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { Pools } from '#pools/pools.ts';
import type { BenchCloud } from './cloud.ts';

export interface FleetSize {
  readonly pools: number;
  readonly workersPerPool: number;
}

export const LARGE: FleetSize = { pools: 10_000, workersPerPool: 10 };
export const SMALL: FleetSize = { pools: 1_000, workersPerPool: 10 };

/** A pool that keeps all its workers, idle, and launches one more for each that gets work. */
export function poolDocument(name: string, workers: number): string {
  return JSON.stringify({
    name,
    description: `What runs on ${name}.`,
    auto_scaler: {
      backends: [{ bench: { shape: name } }],
      max_agents: workers * 2,
      min_idle_agents: workers,
      max_idle_agents: workers + 2,
      idle_decay: '5m',
    },
  });
}

const POOLS_AT_A_TIME = 500;
const ROWS_PER_COMMIT = 5_000;

export const poolName = (n: number): string => `pool-${n}`;

/** Defines the pools, each with an offer of its own. */
export async function definePools(pools: Pick<Pools, 'define'>, { pools: count, workersPerPool }: FleetSize) {
  for (let from = 0; from < count; from += POOLS_AT_A_TIME) {
    const names = Array.from({ length: Math.min(POOLS_AT_A_TIME, count - from) }, (_, n) => poolName(from + n));
    await Promise.all(names.map((name) => pools.define(poolDocument(name, workersPerPool), {}, SELF)));
  }
}

function workerOf(pool: string, offer: string, n: number): Worker {
  const id = `m-bench-${pool}-${String(n).padStart(10, '0')}`;
  const at = 1_760_000_000_000;
  const credential = 'c0ffee'.repeat(10);
  return { id, pool, launch: `l${pool}${n}`, offer, machine: id, askedAt: at, createdAt: at, joinedAt: at, credential };
}

/** The workers of pools that have none, as rows: joined long ago. */
export function* workersFor({ view }: Store, perPool: number): Iterable<Worker> {
  for (const pool of view.pools.all()) {
    if (view.workers.count('pool', pool.id) > 0) continue;
    for (let n = 0; n < perPool; n++) yield workerOf(pool.id, pool.spec.offers[0]?.id ?? '', n);
  }
}

export async function putWorkers(store: Store, workers: Iterable<Worker>): Promise<void> {
  const offers = new Map([...store.view.pools.all()].map(({ spec: { offers } }) => [offers[0]?.id ?? '', offers[0]]));
  let changes = [...offers.values()].flatMap((offer) => (offer ? [put('offers', offer)] : []));
  for (const worker of workers) {
    changes.push(put('workers', worker));
    if (changes.length < ROWS_PER_COMMIT) continue;
    await store.commit(changes);
    changes = [];
  }
  await store.commit(changes);
}

/** The machine of a worker, as its cloud shows it. */
export function addMachine(cloud: BenchCloud, cluster: string, { machine: name, pool, offer = '' }: Worker): void {
  cloud.machines.set(name, {
    name,
    mark: { cluster, use: 'worker', owner: pool, shape: offer },
    createdAt: 0,
    state: 'running',
  });
}

/** The agent of a worker, as it is after its joining. */
export function agentOf({ id, pool }: Worker, epoch: number): Agent {
  const facts = { wire: 'muster', version: '1', hostname: id, address: '127.0.0.1' } as const;
  return { id, use: 'worker', owner: pool, epoch, slots: 1, labels: {}, connectedAt: 1, ...facts };
}
