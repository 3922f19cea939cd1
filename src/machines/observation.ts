// What this process has seen of each machine. Values are never changed in place: `observe…` alone replaces them.
import { isAbsent, type Listing } from '#clouds/listing.ts';
import type { Clock } from '#core/clock.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Machine } from '#core/provider.ts';
import { type Lagging, listLagMs } from './times.ts';

/** What this process has seen of a machine. A restart forgets it; all times are on the monotonic clock. */
export interface Observation {
  readonly askedMs: number;
  /** It was in the store when this process started. */
  readonly isFromBefore: boolean;
  /** Only listings that started later may count against it. */
  readonly missedFromMs: number;
  readonly hasBeenListed: boolean;
  /** Its id in the last listing that showed it: its cloud can be asked for it also where listings leave it out. */
  readonly listedId: string | undefined;
  readonly unlistedSinceMs: number | undefined;
  /** Since when its cloud shows it stopped, though we did not stop it. */
  readonly stoppedSinceMs: number | undefined;
  /** When its cloud last had no room to wake it. */
  readonly noRoomMs: number | undefined;
}

/** What a feature sees of its machines beyond what their clouds show. */
export type FeatureFields<O extends Observation> = Omit<O, keyof Observation>;

export interface Observations<R extends MachineRow, O extends Observation> {
  /** What was seen of it; reading keeps nothing. */
  of(row: R): O;
  /** The same where anything was kept. */
  kept(id: string): O | undefined;
  observe(row: R, seen: Partial<O>): void;
  /** The same where all of it is known: kept as it is. */
  observeWhole(id: string, seen: O): void;
  /** A machine that this process launched, saw first or woke: earlier observations are void. */
  observeFirst(id: string, seen?: Partial<O>): void;
  forget(id: string): void;
}

export interface ObservationsDeps<O extends Observation> {
  readonly clock: Clock;
  readonly startedMs: number;
  /** How far listings of an offer's cloud may lag behind. */
  lagMs(offer: string | undefined): number;
  /** Whether its cloud has agreed to make it, and how that ends is not known yet. */
  isCreating(row: MachineRow): boolean;
  /** What the feature assumes of a machine that it has not seen yet. */
  unseen(isFromBefore: boolean): FeatureFields<O>;
}

export function openObservations<R extends MachineRow, O extends Observation>(
  deps: ObservationsDeps<O>,
): Observations<R, O> {
  const { clock, startedMs, lagMs, isCreating, unseen } = deps;
  const kept = new Map<string, O>();

  // All of one form from the start, since every pass reads all of them.
  const made = (seen: Pick<Observation, 'askedMs' | 'isFromBefore' | 'missedFromMs'>): O =>
    ({
      askedMs: seen.askedMs,
      isFromBefore: seen.isFromBefore,
      missedFromMs: seen.missedFromMs,
      hasBeenListed: false,
      listedId: undefined,
      unlistedSinceMs: undefined,
      stoppedSinceMs: undefined,
      noRoomMs: undefined,
      ...unseen(seen.isFromBefore),
    }) as Observation as O;

  const fromBefore = (row: R): O =>
    made({
      askedMs: clock.monotonic() - Math.max(0, clock.now() - row.askedAt),
      isFromBefore: true,
      // It may have been made just before this process began, and be listed late; or its making is under way.
      missedFromMs: isCreating(row) ? Number.POSITIVE_INFINITY : startedMs + lagMs(row.offer),
    });

  const of = (row: R): O => kept.get(row.id) ?? fromBefore(row);
  return {
    of,
    kept: (id) => kept.get(id),
    observe: (row, seen) => void kept.set(row.id, { ...of(row), ...seen }),
    observeWhole: (id, seen) => void kept.set(id, seen),
    observeFirst(id, seen) {
      const first = made({
        askedMs: clock.monotonic(),
        isFromBefore: false,
        missedFromMs: Number.POSITIVE_INFINITY,
      });
      kept.set(id, { ...first, ...seen });
    },
    forget: (id) => void kept.delete(id),
  };
}

/** A machine as its cloud shows it now. */
export interface Shown {
  readonly listing: Listing | undefined;
  readonly machine: Machine | undefined;
  readonly nowMs: number;
}

/** The observation once a listing has shown the machine. */
function afterShown<O extends Observation>(
  base: Lagging,
  seen: O,
  row: MachineRow,
  machine: Machine,
  nowMs: number,
): O {
  const isStopped = machine.state === 'suspended' && !row.parked && !row.isWaking;
  const isNews = isStopped !== (seen.stoppedSinceMs !== undefined) || machine.id !== seen.listedId;
  if (seen.hasBeenListed && seen.unlistedSinceMs === undefined && !isNews) return seen;
  // Once it has been shown, a later listing without it is only as late as listings are.
  const missedFromMs = seen.hasBeenListed
    ? seen.missedFromMs
    : Math.min(seen.missedFromMs, nowMs + listLagMs(base, row.offer));
  const stoppedSinceMs = isStopped ? (seen.stoppedSinceMs ?? nowMs) : undefined;
  const shown = { hasBeenListed: true, listedId: machine.id, unlistedSinceMs: undefined };
  return { ...seen, ...shown, missedFromMs, stoppedSinceMs };
}

/** The observation as this listing leaves it; the very same where the listing says nothing new. */
export function afterListing<O extends Observation>(base: Lagging, seen: O, row: MachineRow, shown: Shown): O {
  const { listing, machine, nowMs } = shown;
  if (machine) return afterShown(base, seen, row, machine, nowMs);
  // A pass need not have come while listings showed it.
  const listedId = listing?.before?.machines.get(row.machine)?.id ?? seen.listedId;
  const known = listedId === seen.listedId ? seen : { ...seen, listedId };
  const wasHere = seen.hasBeenListed || (seen.isFromBefore && row.joinedAt !== undefined);
  if (!wasHere || row.removal || !listing || !isAbsent(listing, row.machine, seen.missedFromMs)) return known;
  return seen.unlistedSinceMs === undefined ? { ...known, unlistedSinceMs: nowMs } : known;
}
