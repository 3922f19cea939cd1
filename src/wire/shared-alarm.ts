import type { Clock } from '#core/clock.ts';

/** Calls `run` after a moment that all callers share: one alarm, however many there are. */
export type SharedAlarm = (run: () => void) => void;

export function openSharedAlarm(clock: Pick<Clock, 'alarm'>, withinMs: number): SharedAlarm {
  let waiting: (() => void)[] = [];

  function ring(): void {
    const due = waiting;
    waiting = [];
    for (const run of due) run();
  }

  return (run) => {
    if (waiting.push(run) === 1) clock.alarm(withinMs, ring);
  };
}
