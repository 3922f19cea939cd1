import type { Clock } from '#core/clock.ts';
import type { Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import type { Times } from './times.ts';

/** How far something that the cloud is told of a machine has come in this process: to delete, suspend or resume it. */
export interface Errand {
  isCalling: boolean;
  attempts: number;
  notBeforeMs: number;
  /** When the cloud agreed. */
  agreedMs?: number;
}

/** One more attempt begins. */
export function beginErrand(errand: Errand | undefined): Errand {
  const begun = errand ?? { isCalling: false, attempts: 0, notBeforeMs: 0 };
  begun.isCalling = true;
  begun.attempts += 1;
  return begun;
}

/** What this process has seen of a worker. A restart forgets it; all times are on the monotonic clock. */
export interface Sight {
  readonly askedMs: number;
  /** It stood in the store when this process began. */
  readonly isFromBefore: boolean;
  /** Only listings that started later may count against it. */
  missedFromMs: number;
  hasBeenListed: boolean;
  unlistedSinceMs: number | undefined;
  idleSinceMs: number | undefined;
  /** Since when it counts as away, where its agent is not connected. */
  awaySinceMs: number | undefined;
  /** Until then it counts as present all the same. */
  backByMs: number;
  /** As its agent said last. */
  slots: number | undefined;
  deletion: Errand | undefined;
  /** Its suspending or resuming, whichever was asked for last. */
  standstill: Errand | undefined;
  /** When its cloud last had no room to wake it. */
  noRoomMs: number | undefined;
  isKnownGhost: boolean;
}

// All of one form from the start, since every pass reads all of them.
const UNSEEN = {
  hasBeenListed: false,
  unlistedSinceMs: undefined,
  idleSinceMs: undefined,
  awaySinceMs: undefined,
  slots: undefined,
  deletion: undefined,
  standstill: undefined,
  noRoomMs: undefined,
  isKnownGhost: false,
} as const;

export interface Sights {
  of(worker: Worker): Sight;
  first(name: string): Sight;
}

export interface SightsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly startedMs: number;
  readonly times: Times;
  /** How late the cloud of an offer may show what it has already done. */
  lagMs(offer: string | undefined): number;
}

export function rememberWorkers({ store, clock, startedMs, times, lagMs }: SightsDeps): Sights {
  const sights = new Map<string, Sight>();
  store.onChange('workers', (after, _before, id) => {
    if (!after) sights.delete(id);
  });

  function fromBefore(worker: Worker): Sight {
    const graceEndMs = startedMs + times.reconnectGraceMs;
    return {
      ...UNSEEN,
      askedMs: clock.monotonic() - Math.max(0, clock.now() - worker.askedAt),
      isFromBefore: true,
      // It may have been made just before this process began, and be listed late.
      missedFromMs: startedMs + lagMs(worker.offer),
      awaySinceMs: graceEndMs,
      backByMs: graceEndMs,
    };
  }

  function keep(name: string, sight: Sight): Sight {
    sights.set(name, sight);
    return sight;
  }

  return {
    of: (worker) => sights.get(worker.id) ?? keep(worker.id, fromBefore(worker)),
    first: (name) =>
      keep(name, {
        ...UNSEEN,
        askedMs: clock.monotonic(),
        isFromBefore: false,
        missedFromMs: Number.POSITIVE_INFINITY,
        backByMs: Number.NEGATIVE_INFINITY,
      }),
  };
}
