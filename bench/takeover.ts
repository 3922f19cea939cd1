import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import type { Bench, Report } from './bench.ts';
import { ask } from './parts/api.ts';
import { median } from './parts/numbers.ts';
import { freePortPair } from './parts/ports.ts';
import { withFolder } from './parts/scratch.ts';
import { type RunningServer, startServer } from './parts/server.ts';
import { onPostgres } from './parts/stores.ts';

const POOL = { name: 'bench' };
const RETRY_MS = 20;

interface Replica {
  readonly server: RunningServer;
  readonly http: string;
}

async function startReplica(folder: string, store: string): Promise<Replica> {
  const httpPort = await freePortPair();
  const own = join(folder, String(httpPort));
  mkdirSync(own);
  const server = startServer({ folder: own, store, httpPort, config: { agent_pools: [POOL] } });
  while (!server.lines.some((line) => line.includes('standing by'))) await systemClock.sleep(20);
  return { server, http: `http://127.0.0.1:${httpPort}` };
}

/** Tries until the session is accepted, as a patient client would. */
async function submitTo(http: string, token: string): Promise<void> {
  const body = { pool: POOL.name, command: ['true'] };
  for (;;) {
    try {
      await ask(http, token, { path: '/sessions', body });
      return;
    } catch {
      await systemClock.sleep(RETRY_MS);
    }
  }
}

async function measure(folder: string, store: string, rounds: number): Promise<number[]> {
  const takenS: number[] = [];
  let holder = await startReplica(folder, store);
  await holder.server.serving;
  const token = holder.server.token();
  for (let n = 0; n < rounds; n++) {
    const standby = await startReplica(folder, store);
    await submitTo(standby.http, token);
    const startMs = systemClock.monotonic();
    await holder.server.kill();
    await submitTo(standby.http, token);
    takenS.push((systemClock.monotonic() - startMs) / 1_000);
    holder = standby;
  }
  await holder.server.stop();
  return takenS;
}

async function run(report: Report): Promise<void> {
  const rounds = report.isQuick ? 1 : 5;
  await onPostgres((database) =>
    withFolder(async (folder) => {
      const takenS = await measure(folder, await database(), rounds);
      const note = `worst of ${rounds}, median ${median(takenS).toFixed(2)} s`;
      report.figure('takeover-time', Math.max(...takenS), { variant: 'postgres', note });
    }),
  );
}

export const bench: Bench = {
  order: 110,
  name: 'takeover',
  measures: ['takeover-time'],
  limitMs: 120_000,
  run,
};
