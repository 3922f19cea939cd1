import { systemClock } from '#core/clock.ts';
import { clearDataDir } from '../src/providers/process/testing.ts';
import type { Bench, Report } from './bench.ts';
import { askServer, submit } from './parts/api.ts';
import { percentile } from './parts/numbers.ts';
import { freePortPair } from './parts/ports.ts';
import { withFolder } from './parts/scratch.ts';
import { type RunningServer, startServer } from './parts/server.ts';
import { type Database, onEachStore } from './parts/stores.ts';

const POOL = 'warm';
const LOCAL_POOL = {
  name: POOL,
  auto_scaler: { backend: { process: { slots: 2 } }, max_agents: 1, min_agents: 1 },
};
// A program that says when it began, in nanoseconds since 1970; the time of its own start is in it.
const SAY_TIME = ['/bin/date', '+%s%N'];
const PAUSE_MS = 20;

/** One session; answers how long after the request it was accepted, and its process ran. */
async function oneSession(server: RunningServer): Promise<{ acceptedMs: number; ranMs: number }> {
  const askedAt = systemClock.now();
  const startMs = systemClock.monotonic();
  const { id } = await submit(server, POOL, SAY_TIME);
  const acceptedMs = systemClock.monotonic() - startMs;
  const said = await askServer(server, { path: `/sessions/${id}/output?follow=1&raw=1` });
  return { acceptedMs, ranMs: Number(said) / 1_000_000 - askedAt };
}

async function measure(folder: string, { kind: variant, url }: Database, report: Report): Promise<void> {
  const store = variant === 'postgres' ? { store: url, httpPort: await freePortPair() } : {};
  const server = startServer({ folder, ...store, config: { agent_pools: [LOCAL_POOL] } });
  try {
    // The first waits for the agent; those after it warm up what runs.
    for (let n = 0; n < 20; n++) await oneSession(server);
    const seen: Awaited<ReturnType<typeof oneSession>>[] = [];
    for (let n = 0; n < (report.isQuick ? 60 : 500); n++) {
      seen.push(await oneSession(server));
      await systemClock.sleep(PAUSE_MS);
    }
    const waits = seen.map(({ ranMs }) => ranMs);
    const accepted = percentile(
      seen.map(({ acceptedMs }) => acceptedMs),
      0.5,
    ).toFixed(1);
    report.figure('warm-session-p50', percentile(waits, 0.5), { variant, note: `accepted after ${accepted} ms` });
    report.figure('warm-session-p99', percentile(waits, 0.99), { variant, note: `${waits.length} sessions` });
  } finally {
    await server.stop();
    clearDataDir(server.dataDir);
  }
}

export const bench: Bench = {
  order: 40,
  name: 'warm-sessions',
  measures: ['warm-session-p50', 'warm-session-p99'],
  limitMs: 120_000,
  run: (report) => onEachStore((database) => withFolder((folder) => measure(folder, database, report))),
};
