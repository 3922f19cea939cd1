import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, systemClock } from '#core/clock.ts';
import { idsFrom } from '#core/id.ts';
import { type Change, HISTORIES, put } from '#core/store.ts';
import { defaultRetention } from '#core/table.ts';
import { aPool } from '#core/testing/pool.ts';
import { openForecasts } from '../src/foresight/forecast.ts';
import { demandAtRate } from '../src/foresight/model-question.ts';
import { openModelThread } from '../src/foresight/model-turns.ts';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { withFolder } from './parts/scratch.ts';
import { watchStalls } from './parts/stalls.ts';
import { openHeld } from './parts/stores.ts';

const POOLS = 10_000;
const SESSIONS = 10_000;
const VIEWERS = 20;
const ROUNDS = 5;
const ROWS_A_COMMIT = 1_000;

const limits = { maxAgents: 200, minIdleSlots: 1, maxIdleSlots: 4, idleDecayMs: 5 * MINUTE_MS };
const pool = aPool(limits, { name: 'measured' }, { createdAt: 0 });

/** A week of sessions, and a machine for each third of them. */
function week(untilMs: number): Change[] {
  const stretch = { fromMs: untilMs - 7 * DAY_MS, untilMs, seed: 1 };
  const demand = demandAtRate({ perHour: SESSIONS / (7 * 24), lastsMs: 6 * MINUTE_MS }, stretch);
  const spec = { command: ['true'], env: {}, stdin: false, priority: 0, labels: {}, graceMs: 1_000, retries: 0 };
  return demand.flatMap(({ atMs, lastsMs }, at): Change[] => {
    const id = `${idsFrom(atMs)}${String(at).padStart(9, '0')}`;
    const times = {
      acceptedAt: atMs,
      placedAt: atMs,
      end: { at: atMs + lastsMs, how: 'exited', exitCode: 0 } as const,
    };
    const session = { id, pool: pool.id, poolName: pool.name, spec, by: 'token:bench', attempt: 1, ...times };
    const machine = {
      ...({
        id,
        machine: id,
        use: 'worker',
        owner: pool.id,
        offer: pool.spec.offers[0]?.id ?? '',
        kind: 'sim',
      } as const),
      ...{ askedAt: atMs, createdAt: atMs + SECOND_MS, joinedAt: atMs + MINUTE_MS, endedAt: atMs + HOUR_MS },
      ...{ how: 'removed' as const, prices: [{ from: atMs, perHour: 2 }] },
    };
    return [
      { append: 'ended', row: session },
      ...(at % 3 === 0 ? [{ append: 'endedMachines', row: machine } as const] : []),
    ];
  });
}

async function run(report: Report): Promise<void> {
  await withFolder(async (url) => {
    const store = await openHeld(url);
    const model = openModelThread(systemClock);
    const now = systemClock.now();
    const others = Array.from({ length: POOLS }, (_, at) =>
      put('pools', aPool(limits, { name: `pool-${at}` }, { id: `p${at}` })),
    );
    const changes = [...others, put('pools', pool), ...week(now)];
    for (let at = 0; at < changes.length; at += ROWS_A_COMMIT)
      await store.commit(changes.slice(at, at + ROWS_A_COMMIT));
    const deps = { store, model, clock: systemClock, clouds: { priceOf: () => 2 }, kinds: { backends: {} } };
    const forecasts = openForecasts({ ...deps, journal: { retention: defaultRetention(HISTORIES) } });
    const signal = new AbortController().signal;
    const ask = (token: string): Promise<unknown> =>
      forecasts.forecast({ pool, demand: { sinceMs: now - 7 * DAY_MS }, seed: 1 }, { token, signal });
    const tookMs: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const startMs = systemClock.monotonic();
      await ask('first');
      // The first one starts the thread.
      if (round > 0) tookMs.push(systemClock.monotonic() - startMs);
    }
    report.figure('whatif-week', median(tookMs), { note: `${SESSIONS} sessions` });
    const stalls = watchStalls();
    await Promise.all(Array.from({ length: VIEWERS }, (_, viewer) => ask(`viewer-${viewer}`)));
    const { wallMs, cpuMs } = stalls.stop();
    report.figure('whatif-stall', wallMs, { note: `${VIEWERS} viewers, ${POOLS} pools` });
    report.figure('whatif-stall-cpu', cpuMs);
    await model.close();
    await store.close();
  });
}

export const bench: Bench = {
  order: 45,
  name: 'whatif',
  measures: ['whatif-week', 'whatif-stall', 'whatif-stall-cpu'],
  limitMs: 120_000,
  run,
};
