// What became of the launches of each offer: how many the cloud refused, and how long machines took to be ready.
import type { Clock } from '#core/clock.ts';
import type { FaultKind } from '#core/fault.ts';
import { idsFrom } from '#core/id.ts';
import type { EndedMachine, MachineRow } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import { inSlices } from '#core/slices.ts';
import type { Store } from '#core/store.ts';
import { isRefused } from './past.ts';
import { shareOf } from './waits.ts';

export interface OfferRecord {
  readonly id: string;
  /** Of its backend; absent where nothing names it any more. */
  readonly kind?: string | undefined;
  /** The names of the pools that have it now. */
  readonly pools: readonly string[];
  readonly launches: number;
  /** Machines that are not ready yet. */
  readonly starting: number;
  readonly refused: Readonly<Partial<Record<FaultKind | 'unknown', number>>>;
  /** Made, and ended before they were ready. */
  readonly neverReady: number;
  /** From the launch until the agent joined; absent where none has. */
  readonly ready?: { readonly p50Ms: number; readonly p95Ms: number } | undefined;
  /** As its pools say, or else its cloud. */
  readonly pricePerHour?: number | undefined;
}

export interface OfferRecords {
  readonly offers: readonly OfferRecord[];
  /** Since when launches are counted: later than asked for where there were too many. */
  readonly sinceMs: number;
}

interface Tally {
  kind?: string | undefined;
  pricePerHour?: number | undefined;
  launches: number;
  starting: number;
  neverReady: number;
  readonly pools: Set<string>;
  readonly refused: Partial<Record<FaultKind | 'unknown', number>>;
  readonly readyMs: number[];
}

const ROWS_A_PAGE = 500;
// A second of work.
const MOST_ENDED = 100_000;

export async function recordsOfOffers(
  { store, clock }: { readonly store: Pick<Store, 'history' | 'view'>; readonly clock: Clock },
  { sinceMs, mostEnded = MOST_ENDED }: { readonly sinceMs: number; readonly mostEnded?: number },
): Promise<OfferRecords> {
  const { view } = store;
  const tallies = new Map<string, Tally>();
  const of = (offer: string): Tally => {
    const known = tallies.get(offer);
    if (known) return known;
    const made = { launches: 0, starting: 0, neverReady: 0, pools: new Set<string>(), refused: {}, readyMs: [] };
    tallies.set(offer, made);
    return made;
  };
  await inSlices(clock, view.pools.all(), (pool) => addPool(of, pool));
  const reachedMs = await addEnded(store, of, { sinceMs, mostEnded });
  const live: readonly Iterable<MachineRow>[] = [view.workers.all(), view.computerMachines.all()];
  for (const rows of live) await inSlices(clock, rows, (row) => addLive(of, row, reachedMs));
  const offers = [...tallies].map(([id, tally]) => recordOf(store, id, tally));
  return { offers: offers.toSorted((a, b) => b.launches - a.launches || (a.id < b.id ? -1 : 1)), sinceMs: reachedMs };
}

type TallyOf = (offer: string) => Tally;

function addPool(of: TallyOf, { name, spec }: Pool): void {
  for (const { id, kind } of spec.offers) {
    const tally = of(id);
    tally.kind = kind;
    tally.pools.add(name);
    tally.pricePerHour ??= spec.terms?.[id]?.pricePerHour;
  }
}

/** The newest first; answers the moment that was reached. */
async function addEnded(
  { history }: Pick<Store, 'history'>,
  of: TallyOf,
  { sinceMs, mostEnded }: { readonly sinceMs: number; readonly mostEnded: number },
): Promise<number> {
  const first = idsFrom(Math.max(0, sinceMs));
  let after: string | undefined;
  for (let count = 0; count < mostEnded; count += ROWS_A_PAGE) {
    const rows = await history.endedMachines({}, { after, limit: ROWS_A_PAGE, order: 'newest first' });
    for (const row of rows) if (row.id >= first && row.askedAt >= sinceMs) addEndedMachine(of(row.offer), row);
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_A_PAGE || last.id < first) return sinceMs;
    after = last.id;
    if (count + ROWS_A_PAGE >= mostEnded) return last.endedAt;
  }
  return sinceMs;
}

function addEndedMachine(tally: Tally, machine: EndedMachine): void {
  const { kind, askedAt, joinedAt, fault } = machine;
  tally.kind ??= kind;
  tally.launches += 1;
  if (joinedAt !== undefined) tally.readyMs.push(Math.max(0, joinedAt - askedAt));
  else if (isRefused(machine)) {
    const why = fault?.kind ?? 'unknown';
    tally.refused[why] = (tally.refused[why] ?? 0) + 1;
  } else tally.neverReady += 1;
}

function addLive(of: TallyOf, { offer, askedAt, joinedAt }: MachineRow, sinceMs: number): void {
  if (offer === undefined || askedAt < sinceMs) return;
  const tally = of(offer);
  tally.launches += 1;
  if (joinedAt === undefined) tally.starting += 1;
  else tally.readyMs.push(Math.max(0, joinedAt - askedAt));
}

function recordOf({ view }: Pick<Store, 'view'>, id: string, tally: Tally): OfferRecord {
  const { kind = view.offers.get(id)?.kind, pools, readyMs, ...counts } = tally;
  const sorted = readyMs.toSorted((a, b) => a - b);
  return {
    ...{ id, kind, pools: [...pools].toSorted() },
    ...counts,
    ready: sorted.length === 0 ? undefined : { p50Ms: shareOf(sorted, 0.5), p95Ms: shareOf(sorted, 0.95) },
    pricePerHour: tally.pricePerHour ?? view.offers.get(id)?.prices?.at(-1)?.perHour,
  };
}
