import pg from 'pg';
import { openGate } from '#clouds/gate.ts';
import { knownKinds } from '#config/kinds.ts';
import { systemClock } from '#core/clock.ts';
import { SELF } from '#core/journal.ts';
import { silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { startJournal } from '#journal/journal.ts';
import runtimes from '../src/runtimes/index.ts';
import { sectionSchema } from '../src/runtimes/section.ts';
import type { Bench, Report } from './bench.ts';
import { withFolder } from './parts/scratch.ts';
import { onPostgres, openHeld } from './parts/stores.ts';

const CALLERS = 64;
const HOSTS = 100;
const hostNames = Array.from({ length: HOSTS }, (_, at) => `http://h${at}`);

interface Size {
  readonly grants: number;
  /** Slots of each host: all of them together are as many as the grants. */
  readonly slots: number;
}

/** Runs so many tasks, as many at a time as there are callers; answers how many were done in a second. */
async function rateOf(count: number, task: (at: number, caller: number) => Promise<void>): Promise<number> {
  let next = 0;
  const startMs = systemClock.monotonic();
  const caller = async (_: unknown, number: number): Promise<void> => {
    for (let at = next++; at < count; at = next++) await task(at, number);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (count / (systemClock.monotonic() - startMs)) * 1_000;
}

/** Durable grants of the feature, as the API calls it. */
async function ours(url: string, { grants, slots }: Size): Promise<{ readonly rate: number; readonly over: number }> {
  const store = await openHeld(url);
  const base = { store, clock: systemClock, random: systemRandom, log: silentLog };
  const journal = startJournal(base);
  const kinds = knownKinds([]);
  const hosts = hostNames.map((host) => ({ host, slots }));
  const provisioners = { fixed: { type: 'static', spec: { runtimes: hosts } } };
  const settings = sectionSchema(kinds).parse({ provisioners, default: 'fixed' });
  const context = { ...base, cluster: store.cluster } as unknown as Context;
  const feature = runtimes.start({ ...base, journal, gate: openGate(base), kinds, context, settings });
  const rate = await rateOf(grants, async (at) => void (await feature.create({ id: `r${at}`, slots: 1 }, SELF)));
  const over = feature.hosts().filter(({ used }) => used > slots).length;
  await feature.stop();
  await journal.stop();
  await store.close();
  return { rate, over };
}

/** What the original does: reads the sum of each host, picks one with room, inserts; each statement by itself. */
async function original(
  url: string,
  { grants, slots }: Size,
): Promise<{ readonly rate: number; readonly over: number }> {
  const clients = Array.from({ length: CALLERS }, () => new pg.Client({ connectionString: url }));
  for (const client of clients) await client.connect();
  const [first] = clients as [pg.Client, ...pg.Client[]];
  await first.query(
    'CREATE TABLE static_runtime_assignments (id text PRIMARY KEY, resource_id text UNIQUE, host text, slots int)',
  );
  let turn = 0;
  const rate = await rateOf(grants, async (at, caller) => {
    const client = clients[caller] as pg.Client;
    const { rows } = await client.query<{ host: string; sum: string }>(
      'SELECT host, SUM(slots) AS sum FROM static_runtime_assignments GROUP BY host ORDER BY host',
    );
    const used = new Map(rows.map(({ host, sum }) => [host, Number(sum)]));
    const open = hostNames.filter((host) => (used.get(host) ?? 0) + 1 <= slots);
    const host = open[turn++ % Math.max(1, open.length)];
    if (host === undefined) return;
    await client.query(
      'INSERT INTO static_runtime_assignments (id, resource_id, host, slots) VALUES ($1, $2, $3, 1) ON CONFLICT (resource_id) DO UPDATE SET slots = EXCLUDED.slots',
      [`a${at}`, `r${at}`, host],
    );
  });
  const { rows } = await first.query<{ count: string }>(
    'SELECT count(*) FROM (SELECT host FROM static_runtime_assignments GROUP BY host HAVING SUM(slots) > $1) AS over',
    [slots],
  );
  for (const client of clients) await client.end();
  return { rate, over: Number(rows[0]?.count ?? 0) };
}

async function run(report: Report): Promise<void> {
  const size: Size = report.isQuick ? { grants: 2_000, slots: 20 } : { grants: 20_000, slots: 200 };
  await withFolder(async (url) => {
    const { rate, over } = await ours(url, size);
    report.figure('runtime-grants', rate, { variant: 'sqlite' });
    report.figure('runtime-oversubscribed', over, { variant: 'sqlite' });
  });
  await onPostgres(async (database) => {
    const { rate, over } = await ours(await database(), size);
    report.figure('runtime-grants-postgres', rate);
    report.figure('runtime-oversubscribed', over, { variant: 'postgres' });
    const peer = await original(await database(), size);
    const note = `${CALLERS} clients: sum by host, then insert`;
    report.figure('runtime-grants-original', peer.rate, { note });
    report.figure('runtime-oversubscribed-original', peer.over, { note: `of ${HOSTS} hosts` });
  });
}

export const bench: Bench = {
  order: 150,
  name: 'runtimes',
  measures: [
    'runtime-grants',
    'runtime-grants-postgres',
    'runtime-oversubscribed',
    'runtime-grants-original',
    'runtime-oversubscribed-original',
  ],
  limitMs: 120_000,
  run,
};
