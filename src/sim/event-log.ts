import type { Clock } from '#core/clock.ts';
import type { EventRow } from '#core/journal.ts';

/** What happened last in the world: for who looks into a broken law. */
export interface EventLog {
  /** An event is put into words only when someone asks. */
  note(what: string, about?: string | EventRow): void;
  /** Oldest first, each with its time since the world began. */
  last(count: number): string[];
  /** From now on nothing is noted: what led to the break must stay readable. */
  freeze(): void;
}

const MOST_KEPT = 4096;

interface LoggedEvent {
  readonly atMs: number;
  readonly what: string;
  readonly about: string | EventRow | undefined;
}

export function openEventLog(clock: Clock): EventLog {
  const kept: LoggedEvent[] = [];
  let next = 0;
  let isFrozen = false;
  return {
    note(what, about) {
      if (isFrozen) return;
      kept[next % MOST_KEPT] = { atMs: clock.monotonic(), what, about };
      next += 1;
    },
    last(count) {
      const from = Math.max(0, next - Math.min(count, MOST_KEPT));
      const lines: string[] = [];
      for (let at = from; at < next; at++) lines.push(lineOf(kept[at % MOST_KEPT] as LoggedEvent));
      return lines;
    },
    freeze: () => {
      isFrozen = true;
    },
  };
}

function lineOf({ atMs, what, about }: LoggedEvent): string {
  const words = typeof about === 'object' ? `${about.subject}: ${about.message}` : about;
  return `${timeOf(atMs)}  ${what}${words === undefined ? '' : `  ${words}`}`;
}

/** Hours, minutes, seconds and milliseconds since the world began. */
export function timeOf(ms: number): string {
  const digits = (value: number, count: number): string => String(Math.floor(value)).padStart(count, '0');
  const [hours, minutes, seconds] = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60];
  return `${digits(hours, 2)}:${digits(minutes, 2)}:${digits(seconds, 2)}.${digits(ms % 1_000, 3)}`;
}
