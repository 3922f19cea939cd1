import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import type { Bench, Report } from './bench.ts';
import { openBenchCloud } from './parts/cloud.ts';
import {
  addMachine,
  definePools,
  type FleetSize,
  LARGE,
  poolDocument,
  putWorkers,
  SMALL,
  workersFor,
} from './parts/fleet.ts';
import { machineNow } from './parts/moments.ts';
import { openBenchPlane } from './parts/plane.ts';
import { freePortPair } from './parts/ports.ts';
import { withFolder } from './parts/scratch.ts';
import { startServer } from './parts/server.ts';
import { type Database, onEachStore, openHeld } from './parts/stores.ts';

const PLUGIN = fileURLToPath(new URL('./programs/cloud-plugin.ts', import.meta.url));
const ORPHAN = 'm-bench-orphan';
const HUNGRY = 'hungry';
const WATCH_MS = 4_000;

/** A server that stopped with a whole fleet joined, one session waiting in a pool without workers, and one orphan. */
async function fill(folder: string, url: string, size: FleetSize): Promise<void> {
  const store = await openHeld(url);
  const cloud = openBenchCloud();
  const plane = await openBenchPlane({ store, provider: cloud.provider });
  await plane.workers.freeze('fleet', 'it is being filled', SELF);
  await definePools(plane.pools, size);
  await putWorkers(store, workersFor(store, size.workersPerPool));
  const document = JSON.parse(poolDocument(HUNGRY, 1)) as { auto_scaler: object };
  const scaler = { ...document.auto_scaler, min_idle_agents: 0, max_agents: 5 };
  await plane.pools.define(JSON.stringify({ ...document, auto_scaler: scaler }), {}, SELF);
  const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 0 };
  await plane.sessions.submit([{ pool: HUNGRY, spec }], SELF);
  for (const worker of store.view.workers.all()) addMachine(cloud, store.cluster, worker);
  const [any] = store.view.workers.all();
  if (any) addMachine(cloud, store.cluster, { ...any, machine: ORPHAN });
  writeFileSync(join(folder, 'machines.json'), JSON.stringify([...cloud.machines.values()]));
  writeFileSync(join(folder, 'calls'), '');
  await plane.stop();
  await store.commit([{ table: 'freezes', id: 'fleet', row: undefined }]);
  await store.close();
}

interface Call {
  readonly at: bigint;
  readonly call: string;
  readonly name: string;
}

function callsIn(folder: string): Call[] {
  const lines = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n').filter(Boolean);
  return lines.map((line) => {
    const [at = '0', call = '', name = ''] = line.split(' ');
    return { at: BigInt(at), call, name };
  });
}

/** Right are one machine for the session that waits, and the end of the orphan; all else is wrong. */
function wrongOf(calls: readonly Call[]): number {
  const created = calls.filter(({ call }) => call === 'create').length;
  const deleted = calls.filter(({ call, name }) => call === 'delete' && name !== ORPHAN).length;
  return Math.max(0, created - 1) + deleted;
}

async function measure(folder: string, { kind: variant, url }: Database, report: Report): Promise<void> {
  await fill(folder, url, report.isQuick ? SMALL : LARGE);
  process.env.BENCH_FOLDER = folder;
  const store = { store: url, httpPort: await freePortPair() };
  const startedAt = machineNow();
  const server = startServer({ folder, ...store, config: { agent_pools: [], plugins: [PLUGIN] } });
  try {
    const { afterMs } = await server.serving;
    while (!callsIn(folder).some(({ call }) => call === 'create')) await systemClock.sleep(20);
    const first = callsIn(folder).find(({ call }) => call === 'create');
    const tookS = Number((first?.at ?? 0n) - startedAt) / 1e9;
    report.figure('restart-time', tookS, { variant, note: `served after ${(afterMs / 1_000).toFixed(2)} s` });
    await systemClock.sleep(report.isQuick ? 1_000 : WATCH_MS);
    report.figure('restart-wrong', wrongOf(callsIn(folder)), { variant });
  } finally {
    await server.stop();
  }
}

export const bench: Bench = {
  order: 100,
  name: 'restart',
  measures: ['restart-time', 'restart-wrong'],
  limitMs: 180_000,
  run: (report) => onEachStore((database) => withFolder((folder) => measure(folder, database, report))),
};
