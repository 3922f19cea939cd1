import { systemClock } from '#core/clock.ts';
import { append, type Change, put, type Store } from '#core/store.ts';
import type { Bench, Report } from './bench.ts';
import { median } from './parts/numbers.ts';
import { type Database, onEachStore, openHeld } from './parts/stores.ts';

const ROUNDS = 3;
const SIZES = [
  ['store-rows-1', 1],
  ['store-rows-10', 10],
  ['store-rows-100', 100],
  ['store-rows-1000', 1_000],
] as const;

let count = 0;

/** Half live rows, half history, as sessions make them: new ids, in the order of time. */
function nextChange(): Change {
  count += 1;
  const id = `s${String(count).padStart(12, '0')}`;
  const at = 1_760_000_000_000 + count;
  const message = 'Asked for 1 of pool gpu: 1 queued and 0 idle.';
  if (count % 2 === 0) {
    const who = { who: 'muster', from: 'itself' };
    return append('events', { id, at, kind: 'worker.asked', subject: `launch/${id}`, pool: 'p1', message, ...who });
  }
  return put('workers', { id, pool: 'p1', machine: id, launch: id, offer: 'o1', askedAt: at, createdAt: at });
}

/** Commits one after the other, each durable before the next; answers rows a second. */
async function round(store: Store, rows: number, forMs: number): Promise<number> {
  const startMs = systemClock.monotonic();
  let written = 0;
  let tookMs = 0;
  while (tookMs < forMs) {
    await store.commit(Array.from({ length: rows }, nextChange));
    written += rows;
    tookMs = systemClock.monotonic() - startMs;
  }
  return (written / tookMs) * 1_000;
}

async function measure({ kind: variant, url }: Database, report: Report): Promise<void> {
  const store = await openHeld(url);
  await round(store, 100, 300);
  for (const [name, rows] of SIZES) {
    const rates: number[] = [];
    for (let n = 0; n < ROUNDS; n++) rates.push(await round(store, rows, report.isQuick ? 150 : 1_500));
    report.figure(name, median(rates), { variant });
  }
  await store.close();
}

export const bench: Bench = {
  order: 140,
  name: 'rows',
  measures: SIZES.map(([name]) => name),
  limitMs: 90_000,
  run: (report) => onEachStore((database) => measure(database, report)),
};
