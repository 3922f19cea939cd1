// The sessions that a forecast is made for: those of the pool's own history, or others.
import { type Clock, HOUR_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Arrival, ForecastDemand, GivenDemand } from '#core/forecast.ts';
import type { Pool } from '#core/pool.ts';
import type { Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { type DemandRate, type PackedDemand, packDemand } from './model-question.ts';
import { demandOf, newestMachines, type Past, type PastMachine, type ReadingBounds, readPast } from './past.ts';

/** A demand with its time. */
export interface TimedDemand {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly demand: PackedDemand | DemandRate;
}

/** With what is known of the pool's machines, and what to say of it all. */
export interface PoolDemand extends TimedDemand {
  readonly machines: readonly PastMachine[];
  readonly past?: Past | undefined;
  readonly notes: readonly string[];
}

export interface DemandDeps {
  readonly store: Pick<Store, 'view' | 'history'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly journal: Pick<Journal, 'retention'>;
}

const MOST_SESSIONS = 200_000;

export async function demandFor(
  deps: DemandDeps,
  pool: Pool,
  { demand, signal }: { readonly demand: ForecastDemand; readonly signal: AbortSignal },
): Promise<PoolDemand> {
  if ('sinceMs' in demand) return pastDemand(deps, pool, { sinceMs: demand.sinceMs, signal });
  const machines = await newestMachines(deps.store, pool);
  return { ...givenDemand(demand, deps.clock.now()), machines, notes: [] };
}

export function givenDemand(demand: GivenDemand, nowMs: number): TimedDemand {
  if ('arrivals' in demand) return traced(demand.arrivals);
  const { perHour, lastsMs, forMs } = demand;
  const sessions = Math.round((perHour * forMs) / HOUR_MS);
  if (sessions > MOST_SESSIONS) throw tooMany(sessions);
  return { fromMs: nowMs, untilMs: nowMs + forMs, demand: { perHour, lastsMs } };
}

// A session of which nothing came before is placed, and the machine that it needed goes again.
const AFTER_LAST_MS = HOUR_MS;

/** Until its last session has ended. */
function traced(given: readonly Arrival[]): TimedDemand {
  const arrivals = given.toSorted((a, b) => a.atMs - b.atMs);
  const [first] = arrivals;
  if (!first) throw new Fault('invalid', 'The trace has no sessions.', { at: 'trace' });
  const sessions = arrivals.reduce((sum, { slots = 1 }) => sum + slots, 0);
  if (sessions > MOST_SESSIONS) throw tooMany(sessions);
  const lastMs = arrivals.reduce((latest, { atMs, lastsMs }) => Math.max(latest, atMs + lastsMs), first.atMs);
  return { fromMs: first.atMs, untilMs: lastMs + AFTER_LAST_MS, demand: packDemand(arrivals) };
}

const tooMany = (sessions: number): Fault =>
  new Fault('invalid', `That is about ${sessions} sessions; a forecast takes ${MOST_SESSIONS}.`, {
    remedy: 'Ask for a shorter time, or for fewer sessions.',
  });

async function pastDemand(
  { store, clock, journal }: DemandDeps,
  pool: Pool,
  { sinceMs, signal }: { readonly sinceMs: number; readonly signal: AbortSignal },
): Promise<PoolDemand> {
  const untilMs = clock.now();
  const { ended, endedMachines } = journal.retention;
  const oldestMs = Math.max(pool.createdAt, untilMs - Math.min(ended, endedMachines));
  const fromMs = Math.min(untilMs, Math.max(sinceMs, oldestMs));
  const bounds: ReadingBounds = { signal, mostRows: MOST_SESSIONS };
  const past = await readPast(store, pool, { fromMs, untilMs }, bounds);
  if (past.sessions.length === 0) throw noPast(pool, past);
  const machines = past.machines.length > 0 ? past.machines : await newestMachines(store, pool);
  const running = past.sessions.filter(({ endMs }) => endMs === undefined).length;
  const cut = `The records of this pool begin at ${toTime(oldestMs)}: nothing before is in these figures.`;
  const open = `${running} of the sessions have not ended: each is taken to end now.`;
  const notes = [...(sinceMs < oldestMs ? [cut] : []), ...(running > 0 ? [open] : [])];
  return { fromMs, untilMs, demand: packDemand(demandOf(past)), machines, past, notes };
}

const toTime = (ms: number): string => new Date(ms).toISOString();

function noPast({ name, createdAt }: Pool, { fromMs, machines }: Past): Fault {
  const had = `no session that got a slot, and ${machines.length} machines`;
  return new Fault('invalid', `Since ${toTime(fromMs)} pool ${name} has had ${had}: there is no demand to repeat.`, {
    at: 'since',
    remedy: `Give another demand, like --sessions 500/h --lasting 6m --for 4h, or a longer time; the pool exists since ${toTime(createdAt)}.`,
  });
}
