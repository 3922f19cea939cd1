// What the history of a pool says: which sessions came, and how its machines came and went. Reads page by page.
import { Fault } from '#core/fault.ts';
import type { Arrival } from '#core/forecast.ts';
import { idsFrom } from '#core/id.ts';
import type { EndedMachine } from '#core/machine.ts';
import type { Pool } from '#core/pool.ts';
import type { Session } from '#core/session.ts';
import type { Page, Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { OfferSupply } from './model.ts';

/** The records of a pool in a stretch of time. */
export interface Past {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Ended and running, that were given a slot or wait for one. */
  readonly sessions: readonly PastSession[];
  readonly machines: readonly PastMachine[];
}

export interface PastSession {
  readonly atMs: number;
  readonly priority: number;
  /** Absent: it still waits. */
  readonly placedMs?: number | undefined;
  /** Absent: it still runs. */
  readonly endMs?: number | undefined;
}

export type PastMachine = Pick<
  EndedMachine,
  'offer' | 'askedAt' | 'createdAt' | 'joinedAt' | 'removedAt' | 'prices' | 'fault'
> & { readonly endedAt?: number | undefined; readonly how?: EndedMachine['how'] | undefined };

const ROWS_A_PAGE = 500;

type Asks<R> = (page: Page) => Promise<readonly R[]>;

/** What reading may take. */
export interface ReadingBounds {
  readonly signal?: AbortSignal | undefined;
  readonly mostRows?: number | undefined;
}

/** All rows whose ids were made at that time or later, the oldest first. */
export async function* rowsFrom<R extends { readonly id: string }>(
  ask: Asks<R>,
  fromMs: number,
  { signal, mostRows = Number.POSITIVE_INFINITY }: ReadingBounds = {},
): AsyncGenerator<R> {
  let after = idsFrom(fromMs);
  for (let read = ROWS_A_PAGE; ; read += ROWS_A_PAGE) {
    const rows = await ask({ after, limit: ROWS_A_PAGE, order: 'oldest first' });
    signal?.throwIfAborted();
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_A_PAGE) return;
    if (read >= mostRows) throw tooMuch(mostRows);
    after = last.id;
  }
}

const tooMuch = (mostRows: number): Fault =>
  new Fault('quota', `There are more than ${mostRows} records in that time.`, { remedy: 'Ask for a shorter time.' });

/** A time that is over. */
export interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
}

type Records = Pick<Store, 'history' | 'view'>;

export async function readPast(
  store: Records,
  { id }: Pick<Pool, 'id'>,
  stretch: Stretch,
  bounds?: ReadingBounds,
): Promise<Past> {
  const sessions = await readSessions(store, id, { ...stretch, ...bounds });
  const machines = await readMachines(store, id, { ...stretch, ...bounds });
  return { ...stretch, sessions, machines };
}

type Reading = Stretch & ReadingBounds;

export async function readSessions({ history, view }: Records, pool: string, reading: Reading): Promise<PastSession[]> {
  const { fromMs, untilMs } = reading;
  const sessions: PastSession[] = [];
  for await (const session of rowsFrom((page) => history.ended({ pool }, page), fromMs, reading)) {
    if (session.acceptedAt >= untilMs) break;
    // One that ended without a slot says nothing of how long it would have run.
    if (session.placedAt !== undefined) sessions.push(pastSession(session));
  }
  for (const session of view.sessions.by('pool', pool)) if (!session.unmatched) sessions.push(pastSession(session));
  const within = sessions.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  return within.toSorted((a, b) => a.atMs - b.atMs);
}

async function readMachines({ history, view }: Records, owner: string, reading: Reading): Promise<PastMachine[]> {
  const { fromMs, untilMs } = reading;
  const machines: PastMachine[] = [];
  // A machine may end long after the time asked for.
  for await (const machine of rowsFrom((page) => history.endedMachines({ owner }, page), fromMs, reading))
    machines.push(machine);
  machines.push(...liveMachines(view, owner));
  return machines.filter(({ askedAt }) => askedAt < untilMs);
}

function liveMachines(view: Store['view'], pool: string): PastMachine[] {
  const workers = Iterator.from(view.workers.by('pool', pool));
  return [
    ...workers.flatMap((worker) => (worker.offer === undefined ? [] : [pastMachine(worker, worker.offer, view)])),
  ];
}

// Of the newest machines: how long they took says how long the next ones take.
const MOST_NEWEST = 500;

/** The newest machines of a pool, whenever they were. */
export async function newestMachines({ history, view }: Records, { id }: Pick<Pool, 'id'>): Promise<PastMachine[]> {
  const ended = await history.endedMachines({ owner: id }, { limit: MOST_NEWEST, order: 'newest first' });
  return [...liveMachines(view, id), ...ended];
}

const pastSession = ({ acceptedAt, placedAt, end, spec }: Session): PastSession => ({
  atMs: acceptedAt,
  priority: spec.priority,
  placedMs: placedAt,
  endMs: end?.at,
});

function pastMachine(worker: Worker, offer: string, view: Store['view']): PastMachine {
  const { askedAt, createdAt, joinedAt, pricePerHour, removal } = worker;
  const first = pricePerHour === undefined ? [] : [{ from: askedAt, perHour: pricePerHour }];
  const later = view.offers.get(offer)?.prices?.filter(({ from }) => from > askedAt) ?? [];
  const prices = pricePerHour === undefined ? undefined : [...first, ...later];
  return { offer, askedAt, createdAt, joinedAt, removedAt: removal?.at, prices };
}

/** The sessions as the model takes them; one that has not ended lasts to the end of the time asked for. */
export function demandOf({ sessions, untilMs }: Past): Arrival[] {
  return sessions.map(({ atMs, priority, placedMs = atMs, endMs = untilMs }) => ({
    ...{ atMs, priority },
    lastsMs: Math.max(0, endMs - placedMs),
  }));
}

/** Longer than any boot timeout: the planner gives such a machine up. */
const NEVER_MS = 2 ** 50;

/** What became of the launches of each offer. */
export function supplyOf({ machines }: Pick<Past, 'machines'>): Record<string, OfferSupply> {
  const byOffer = Map.groupBy(machines, ({ offer }) => offer);
  return Object.fromEntries(
    [...byOffer].map(([offer, all]) => {
      const refused = all.filter(isRefused);
      const readyAfterMs = all.flatMap(readyAfter);
      const settled = refused.length + readyAfterMs.length;
      const afterMs = middle(refused.map(({ askedAt, endedAt = askedAt }) => endedAt - askedAt));
      const goneAfterMs = all.flatMap(({ removedAt, endedAt }) =>
        removedAt === undefined || endedAt === undefined ? [] : [Math.max(0, endedAt - removedAt)],
      );
      const refusals = refused.length === 0 ? undefined : { share: refused.length / settled, afterMs };
      return [offer, { readyAfterMs, goneAfterMs, refusals }];
    }),
  );
}

/** Its cloud made no machine: it said so at once, or after it had agreed. */
export const isRefused = ({ how, joinedAt, createdAt, fault }: PastMachine): boolean =>
  how === 'failed' &&
  joinedAt === undefined &&
  (createdAt === undefined || fault?.kind === 'exhausted' || fault?.kind === 'quota');

/** From the launch until its agent joined; one that was made and failed before never joins; others say nothing. */
function readyAfter(machine: PastMachine): readonly number[] {
  const { askedAt, joinedAt, how } = machine;
  if (joinedAt !== undefined) return [Math.max(0, joinedAt - askedAt)];
  return how === 'failed' && !isRefused(machine) ? [NEVER_MS] : [];
}

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
