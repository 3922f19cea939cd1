import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import { poolSubject } from '#core/reason.ts';
import { put, type Store } from '#core/store.ts';
import type { Plane } from '../src/program/plane.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchCloud } from './parts/cloud.ts';
import { addMachine, agentOf, definePools, LARGE, poolName, putWorkers, SMALL, workersFor } from './parts/fleet.ts';
import { median, percentile } from './parts/numbers.ts';
import { openBenchPlane } from './parts/plane.ts';
import { type Stall, threadCpuMs, watchStalls } from './parts/stalls.ts';
import { type Database, onEachStore, openHeld } from './parts/stores.ts';

const DEMANDS_PER_S = 100;
const RECONCILES = 7;
const LISTINGS = 3;

interface World {
  readonly store: Store;
  readonly plane: Plane;
  readonly pools: readonly string[];
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await systemClock.sleep(1);
}

/** Everyone connected and idle, the cloud listed, and nothing to do. */
async function openWorld({ url }: Database, report: Report): Promise<World & { close(): Promise<void> }> {
  const size = report.isQuick ? SMALL : LARGE;
  const store = await openHeld(url);
  const cloud = openBenchCloud();
  const plane = await openBenchPlane({ store, provider: cloud.provider });
  await definePools(plane.pools, size);
  // Paused, nothing is launched in place of the workers that are about to come.
  await plane.workers.freeze('fleet', 'it is being filled', SELF);
  await putWorkers(store, workersFor(store, size.workersPerPool));
  const launched = [...store.view.workers.all()];
  for (const worker of launched) addMachine(cloud, store.cluster, worker);
  await store.commit(launched.map((worker) => put('agents', agentOf(worker, 1))));
  for (const { id } of launched) plane.sessions.agentJoined(id, []);
  await plane.workers.thaw('fleet', SELF);
  const pools = [...store.view.pools.all()].map(({ id }) => id);
  await until(() =>
    pools.every((id) => plane.journal.lastDecision(poolSubject(id))?.decision.reason?.code === 'enough'),
  );
  return {
    store,
    plane,
    pools,
    async close() {
      await plane.stop();
      await store.close();
    },
  };
}

/** Every pool once; answers how long it took, and the longest stall. */
async function reconcileAll({ plane, pools }: World): Promise<{ tookMs: number; cpuMs: number; stall: Stall }> {
  const passes = (id: string): number => plane.journal.lastDecision(poolSubject(id))?.repeats ?? 0;
  const last = pools.at(-1) ?? '';
  const before = passes(last);
  const stalls = watchStalls();
  const startMs = systemClock.monotonic();
  const startCpuMs = threadCpuMs();
  for (const id of pools) plane.workers.poke(id);
  await until(() => passes(last) > before);
  const cpuMs = threadCpuMs() - startCpuMs;
  return { tookMs: systemClock.monotonic() - startMs, cpuMs, stall: stalls.stop() };
}

/** A fresh listing of all machines, reviewed against all rows. */
async function listAll({ store, plane }: World): Promise<Stall> {
  const [pool] = store.view.pools.all();
  const offer = pool?.spec.offers[0]?.id ?? '';
  const count = (): number => plane.clouds.listing(offer)?.count ?? 0;
  const before = count();
  const stalls = watchStalls();
  plane.clouds.refresh(offer);
  await until(() => count() > before);
  await systemClock.sleep(1_000);
  return stalls.stop();
}

/** Sessions come at an even pace, each to another pool; answers how long each waited for its recorded decision. */
async function demand({ store, plane, pools }: World, count: number): Promise<number[]> {
  const asked = new Map<string, number>();
  const waits: number[] = [];
  const unsubscribe = store.onDurable((changes) => {
    for (const change of changes) {
      if (!('append' in change) || change.append !== 'decisions' || !change.row.did.startsWith('launch')) continue;
      const atMs = asked.get(change.row.subject);
      if (atMs !== undefined) waits.push(systemClock.monotonic() - atMs);
      asked.delete(change.row.subject);
    }
  });
  const stride = 7_919;
  const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 0 };
  const startMs = systemClock.monotonic();
  for (let n = 0; n < count; n++) {
    await systemClock.sleep(startMs + (n * 1_000) / DEMANDS_PER_S - systemClock.monotonic());
    const at = (n * stride) % pools.length;
    asked.set(poolSubject(pools[at] ?? ''), systemClock.monotonic());
    plane.sessions.submit([{ pool: poolName(at), spec }], SELF).catch(() => {});
  }
  await until(() => asked.size === 0);
  unsubscribe();
  return waits;
}

async function measure(database: Database, report: Report): Promise<void> {
  const world = await openWorld(database, report);
  const variant = database.kind;
  const rounds = [];
  for (let n = 0; n < RECONCILES; n++) rounds.push(await reconcileAll(world));
  report.figure('reconcile-time', median(rounds.map(({ tookMs }) => tookMs)), { variant });
  report.figure('reconcile-cpu', median(rounds.map(({ cpuMs }) => cpuMs)), { variant });
  report.figure('reconcile-stall', Math.max(...rounds.map(({ stall }) => stall.wallMs)), { variant });
  report.figure('reconcile-stall-cpu', Math.max(...rounds.map(({ stall }) => stall.cpuMs)), { variant });
  const listings = [];
  for (let n = 0; n < (report.isQuick ? 1 : LISTINGS); n++) listings.push(await listAll(world));
  report.figure('listing-stall', Math.max(...listings.map(({ wallMs }) => wallMs)), { variant });
  report.figure('listing-stall-cpu', Math.max(...listings.map(({ cpuMs }) => cpuMs)), { variant });
  const waits = await demand(world, report.isQuick ? 300 : 1_500);
  report.figure('decision-p50', percentile(waits, 0.5), { variant });
  report.figure('decision-p99', percentile(waits, 0.99), { variant, note: `${waits.length} demands` });
  await world.close();
}

export const bench: Bench = {
  order: 10,
  name: 'decisions',
  measures: [
    'decision-p50',
    'decision-p99',
    'reconcile-time',
    'reconcile-cpu',
    'reconcile-stall',
    'reconcile-stall-cpu',
    'listing-stall',
    'listing-stall-cpu',
  ],
  limitMs: 180_000,
  run: (report) => onEachStore((database) => measure(database, report)),
};
