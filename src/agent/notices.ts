// A cloud that reclaims a machine announces it to the machine itself. Each cloud is a file of `notices/`, whose
// default export watches for that; `npm run gen` lists them by their names.
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';

/** Why and when the cloud reclaims a machine. */
export interface Notice {
  readonly why: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

export interface NoticeOptions {
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly log: Log;
  /** A variable of the agent's environment. */
  variable(name: string): string | undefined;
}

/** Calls back once, when the cloud announces that it reclaims this machine. */
export type WatchNotices = (options: NoticeOptions, heard: (notice: Notice) => void) => { stop(): void };

/** Polls until there is a notice; logs only the first of several consecutive failures. */
export function pollForNotice(
  { clock, log }: Pick<NoticeOptions, 'clock' | 'log'>,
  everyMs: number,
  look: (signal: AbortSignal) => Promise<Notice | undefined>,
  heard: (notice: Notice) => void,
): { stop(): void } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function watch(): Promise<void> {
    let hasComplained = false;
    while (!signal.aborted) {
      try {
        const notice = await look(signal);
        if (notice) return heard(notice);
        hasComplained = false;
      } catch (thrown) {
        if (!hasComplained && !signal.aborted)
          log('warn', 'cannot read interruption notices', { error: Fault.from(thrown).message });
        hasComplained = true;
      }
      await clock.sleep(everyMs, signal);
    }
  }

  void watch();
  return { stop: () => stopping.abort() };
}
