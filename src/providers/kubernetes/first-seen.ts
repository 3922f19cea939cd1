// Since when something has been so. By our own clock: that of the cluster may be minutes away from it.
import type { Clock } from '#core/clock.ts';

export interface FirstSeen {
  /** What is so now, by uid; what is not named is forgotten. */
  note(uids: Iterable<string>): void;
  /** How long it has been seen so; 0 where it is not. */
  sinceMs(uid: string | undefined): number;
}

export function openFirstSeen(clock: Clock): FirstSeen {
  let seenMs = new Map<string, number>();
  return {
    note(uids) {
      const nowMs = clock.monotonic();
      const noted = new Map<string, number>();
      for (const uid of uids) noted.set(uid, seenMs.get(uid) ?? nowMs);
      seenMs = noted;
    },
    sinceMs(uid = '') {
      const nowMs = clock.monotonic();
      return nowMs - (seenMs.get(uid) ?? nowMs);
    },
  };
}
