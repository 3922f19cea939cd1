// Clouds agree first and find out afterwards. Between two listings the operations of what is being made are looked at, so
// that a refusal is heard of soon.
import type { Clock } from '#core/clock.ts';

/** Something that a cloud agreed to do. */
export interface Followed {
  readonly atMs: number;
  /** When its operation was last looked at. */
  checkedMs: number;
}

/** Refusals come soon or not at all: an operation is looked at ever less often. */
export interface Pace {
  readonly soonestMs: number;
  readonly latestMs: number;
  /** Looks must stay cheap: the others have their turn at the next one. */
  readonly most: number;
}

/** Those whose turn it is, those first that were not looked at for longest. */
export function dueOf<T extends Followed>(all: readonly T[], nowMs: number, { soonestMs, latestMs, most }: Pace): T[] {
  const isDue = ({ atMs, checkedMs }: T): boolean =>
    nowMs - Math.max(atMs, checkedMs) >= Math.min(latestMs, Math.max(soonestMs, (nowMs - atMs) / 4));
  return all
    .filter(isDue)
    .toSorted((a, b) => a.checkedMs - b.checkedMs)
    .slice(0, most);
}

export interface FollowOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly everyMs: number;
  isNeeded(): boolean;
  /** How many operations are over that were not before. */
  look(signal: AbortSignal): Promise<number>;
  /** Told after a look that found some. */
  changed(): void;
}

/** Looks every now and then while that is needed. What it returns is to be called when there is something new to follow. */
export function followLate({ clock, signal, everyMs, isNeeded, look, changed }: FollowOptions): () => void {
  let isArmed = false;
  let cancel = (): void => {};

  function arm(): void {
    if (isArmed || signal.aborted || !isNeeded()) return;
    isArmed = true;
    cancel = clock.alarm(everyMs, () => void pass());
  }

  async function pass(): Promise<void> {
    const over = await look(signal).catch(() => 0);
    isArmed = false;
    if (over > 0 && !signal.aborted) changed();
    arm();
  }

  signal.addEventListener('abort', () => cancel());
  arm();
  return arm;
}
