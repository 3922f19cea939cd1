import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import { put } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { Bench, Report } from './bench.ts';
import { type BenchCloud, openBenchCloud } from './parts/cloud.ts';
import {
  addMachine,
  agentOf,
  definePools,
  type FleetSize,
  LARGE,
  putWorkers,
  SMALL,
  workersFor,
} from './parts/fleet.ts';
import { inUse } from './parts/memory.ts';
import { openBenchPlane } from './parts/plane.ts';
import { withFolder } from './parts/scratch.ts';
import { openHeld } from './parts/stores.ts';

const KILOBYTE = 1_024;

/** Fills a database with a fleet; answers its rows of workers no more. */
async function fill(url: string, size: FleetSize): Promise<void> {
  const store = await openHeld(url);
  const plane = await openBenchPlane({ store, provider: openBenchCloud().provider });
  await plane.workers.freeze('fleet', 'it is being filled', SELF);
  await definePools(plane.pools, size);
  await plane.stop();
  await store.close();
}

/** What the views hold, as it is after a start: every row was read from the disk. */
async function measureRecords(url: string, { pools, workersPerPool }: FleetSize, report: Report): Promise<void> {
  const empty = await inUse();
  const store = await openHeld(url);
  const withPools = await inUse();
  await store.close();
  const filling = await openHeld(url);
  await putWorkers(filling, workersFor(filling, workersPerPool));
  await filling.close();
  const again = await openHeld(url);
  const withWorkers = await inUse();
  await again.close();
  report.figure('memory-worker', (withWorkers.heap - withPools.heap) / (pools * workersPerPool) / KILOBYTE);
  report.figure('memory-pool-rows', (withPools.heap - empty.heap) / pools / KILOBYTE);
}

function connectAll(cloud: BenchCloud, cluster: string, workers: Iterable<Worker>) {
  return Array.from(workers, (worker) => {
    addMachine(cloud, cluster, worker);
    return put('agents', agentOf(worker, 1));
  });
}

/** What the whole plane holds of pools, and then of workers that are connected, listed and idle. */
async function measurePlane(url: string, { pools, workersPerPool }: FleetSize, report: Report): Promise<void> {
  const cloud = openBenchCloud();
  const empty = await inUse();
  const store = await openHeld(url);
  const before = [...store.view.workers.all()];
  await store.commit(before.map(({ id }) => ({ table: 'workers', id, row: undefined }) as const));
  const plane = await openBenchPlane({ store, provider: cloud.provider });
  await settled();
  const withPools = await inUse();
  report.figure('memory-pool', (withPools.heap - empty.heap) / pools / KILOBYTE);
  await putWorkers(store, workersFor(store, workersPerPool));
  await store.commit(connectAll(cloud, store.cluster, store.view.workers.all()));
  for (const { id } of store.view.workers.all()) plane.sessions.agentJoined(id, []);
  await plane.workers.thaw('fleet', SELF);
  await settled();
  const withWorkers = await inUse();
  report.figure('memory-worker-all', (withWorkers.heap - withPools.heap) / (pools * workersPerPool) / KILOBYTE);
  await plane.stop();
  await store.close();
}

const settled = (): Promise<void> => systemClock.sleep(3_000);

async function run(report: Report): Promise<void> {
  const size = report.isQuick ? SMALL : LARGE;
  await withFolder(async (url) => {
    await fill(url, size);
    await measureRecords(url, size, report);
    await measurePlane(url, size, report);
  });
}

export const bench: Bench = {
  order: 50,
  name: 'memory',
  measures: ['memory-pool', 'memory-pool-rows', 'memory-worker', 'memory-worker-all'],
  limitMs: 120_000,
  run,
};
