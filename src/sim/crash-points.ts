import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Chance } from './chance.ts';
import type { FaultDraws } from './faults.ts';

/** Where the server dies, once: at its nth commit or call, counted over all of its lives. */
export interface CrashPoint {
  readonly at: 'commit' | 'call' | 'message';
  readonly nth: number;
  /** Whether the disk, the cloud or the agent still gets it. */
  readonly isDone: boolean;
}

export interface CrashPoints {
  /** The point that this commit, call or message is, if it is the one. */
  atCommit(): CrashPoint | undefined;
  atCall(): CrashPoint | undefined;
  atMessage(): CrashPoint | undefined;
  /** Waits as long as the disk takes, or throws where it fails. */
  disk(): Promise<void> | undefined;
  /** How many there were, over all lives of the server. */
  readonly counts: Readonly<Record<CrashPoint['at'], number>>;
}

export interface CrashPointsOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly draws: FaultDraws;
  readonly at: CrashPoint | undefined;
}

const SLOWEST_DISK_MS = 3_000;

export function openCrashPoints({ clock, chance, draws, at: point }: CrashPointsOptions): CrashPoints {
  const counts = { commit: 0, call: 0, message: 0 };

  function count(at: CrashPoint['at']): CrashPoint | undefined {
    counts[at] += 1;
    return point?.at === at && point.nth === counts[at] ? point : undefined;
  }

  return {
    counts,
    atCommit() {
      const found = count('commit');
      if (found || !draws.strikes('crash-at-commit', chance)) return found;
      return { at: 'commit', nth: counts.commit, isDone: chance.happens(0.5) };
    },
    atCall: () => count('call'),
    atMessage: () => count('message'),
    disk() {
      if (draws.strikes('disk-failure', chance)) throw new Fault('unavailable', 'The disk is full.');
      return draws.strikes('slow-disk', chance) ? clock.sleep(chance.ms(1, SLOWEST_DISK_MS)) : undefined;
    },
  };
}
