import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { SELF } from '#core/journal.ts';
import { put, type Store } from '#core/store.ts';
import type { ApiDeps } from '../src/api/deps.ts';
import { allRoutes, openFollowed } from '../src/api/table.ts';
import { bundleDashboard } from '../src/installer/dashboard.ts';
import type { Plane } from '../src/program/plane.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchCloud } from './parts/cloud.ts';
import { addMachine, agentOf, definePools, LARGE, poolName, putWorkers, SMALL, workersFor } from './parts/fleet.ts';
import { inUse } from './parts/memory.ts';
import { median } from './parts/numbers.ts';
import { openBenchPlane } from './parts/plane.ts';
import { withFolder } from './parts/scratch.ts';
import { threadCpuMs } from './parts/stalls.ts';
import { openHeld } from './parts/stores.ts';

const KILOBYTE = 1_000;
const MEGABYTE = 2 ** 20;

/** What a browser loads for the first page, and what charts and terminals add. */
async function measureBundle(report: Report): Promise<void> {
  await withFolder(async (folder) => {
    await bundleDashboard(folder);
    const sizeOf = (name: string): number => statSync(join(folder, `${name}.gz`)).size / KILOBYTE;
    const page = gunzipSync(readFileSync(join(folder, 'index.html.gz'))).toString();
    const named = Array.from(page.matchAll(/"\/assets\/([^"]+)"/g), ([, name = '']) => name);
    const chunk = (start: string): string =>
      readdirSync(folder)
        .find((name) => name.startsWith(start))
        ?.replace(/\.gz$/, '') ?? '';
    report.figure(
      'dashboard-first-page',
      ['index.html', ...named].map(sizeOf).reduce((sum, size) => sum + size),
    );
    report.figure('dashboard-chart', sizeOf(chunk('plot-')));
    report.figure('dashboard-terminal', sizeOf(chunk('xterm-')));
  });
}

interface Fleet {
  readonly store: Store;
  readonly plane: Plane;
}

/** Many pools with connected, idle workers; some sessions wait for a label that no worker has. */
async function openFleet(url: string, report: Report): Promise<Fleet> {
  const size = report.isQuick ? SMALL : LARGE;
  const store = await openHeld(url);
  const cloud = openBenchCloud();
  const plane = await openBenchPlane({ store, provider: cloud.provider });
  await plane.workers.freeze('fleet', 'the bench fills it', SELF);
  await definePools(plane.pools, size);
  await putWorkers(store, workersFor(store, size.workersPerPool));
  for (const worker of store.view.workers.all()) addMachine(cloud, store.cluster, worker);
  await store.commit(Array.from(store.view.workers.all(), (worker) => put('agents', agentOf(worker, 1))));
  for (const { id } of store.view.workers.all()) plane.sessions.agentJoined(id, []);
  const spec = {
    command: ['true'],
    env: {},
    stdin: false,
    priority: 0,
    labels: { zone: 'none' },
    graceMs: 1,
    retries: 0,
  };
  const requests = Array.from({ length: POOLS_IN_TROUBLE }, (_, n) => ({ pool: poolName(n), spec }));
  await plane.sessions.submit(requests, SELF);
  await plane.workers.thaw('fleet', SELF);
  await systemClock.sleep(SETTLE_MS);
  return { store, plane };
}

/** The overview as the server answers it, without the network. */
function openOverview({ store, plane }: Fleet, clock: Clock) {
  const server = { whyNotReady: () => undefined };
  const followed = openFollowed({ store, clock });
  const deps = {
    ...plane,
    store,
    clock,
    features: {},
    server,
    redactText: (text: string) => text,
  } as unknown as ApiDeps;
  const route = allRoutes(deps, followed).find(({ path }) => path === '/api/v1/overview');
  if (!route) throw new Fault('internal', 'There is no overview.');
  return {
    ask: async (): Promise<string> => JSON.stringify(await route.handle({} as never)),
    stop: followed.stop,
  };
}

const SETTLE_MS = 10_000;
const ROUNDS = 10;
const POOLS_IN_TROUBLE = 100;

async function measureOverview(fleet: Fleet, report: Report): Promise<void> {
  const overview = openOverview(fleet, systemClock);
  await overview.ask();
  const rounds = [];
  let bytes = 0;
  for (let n = 0; n < ROUNDS; n++) {
    await changeWorkers(fleet, 60);
    // One answer serves all who ask within a second; meanwhile the pools have done what the changes ask of them.
    await systemClock.sleep(1_100);
    const startMs = threadCpuMs();
    bytes = (await overview.ask()).length;
    rounds.push(threadCpuMs() - startMs);
  }
  overview.stop();
  const { pools, workers } = fleet.store.view;
  report.figure('overview-size', bytes / KILOBYTE, { note: 'with 50 problems' });
  report.figure('overview-cpu', median(rounds), { note: `${pools.size} pools, ${workers.size} workers` });
}

/** Changes of as many workers, and back. */
async function changeWorkers({ store }: Fleet, count: number): Promise<void> {
  const some = Iterator.from(store.view.workers.all()).take(count).toArray();
  for (const worker of some) void store.commit([put('workers', { ...worker, drain: { at: 1, why: 'bench' } })]);
  await store.durable();
  for (const worker of some) void store.commit([put('workers', worker)]);
  await store.durable();
}

/** What the dashboard costs a server before somebody looks, and after the last one has left. */
async function measureUnseen(fleet: Fleet, report: Report): Promise<void> {
  // Two minutes after the last look nothing is followed any more: here after a fraction of a second.
  const hasty: Clock = { ...systemClock, alarm: (ms, run) => systemClock.alarm(ms / 1_000, run) };
  const overview = openOverview(fleet, hasty);
  const lookAndLeave = async (): Promise<void> => {
    await overview.ask();
    await systemClock.sleep(1_500);
  };
  // What is compiled and remembered for the first look stays; the figures by the minute have a figure of their own.
  await lookAndLeave();
  await fleet.plane.series.stop();
  const before = await inUse();
  await lookAndLeave();
  report.figure('unseen-memory', ((await inUse()).heap - before.heap) / MEGABYTE);
  overview.stop();
}

async function run(report: Report): Promise<void> {
  await measureBundle(report);
  await withFolder(async (url) => {
    const fleet = await openFleet(url, report);
    await measureOverview(fleet, report);
    await measureUnseen(fleet, report);
    await fleet.plane.stop();
    await fleet.store.close();
  });
}

export const bench: Bench = {
  order: 130,
  name: 'dashboard',
  measures: [
    'dashboard-first-page',
    'dashboard-chart',
    'dashboard-terminal',
    'overview-size',
    'overview-cpu',
    'unseen-memory',
  ],
  limitMs: 180_000,
  run,
};
