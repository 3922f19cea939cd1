import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';

export interface Deadline {
  readonly what: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** How long this process may still act; looked at again whenever it would have run out. */
  leaseLeftMs(): number;
}

/** Less than this is not worth starting with: the call could outlive our right to make it. */
export const LEAST_LEASE_MS = 250;

/**
 * Runs until it answers, its time is over, we lose the lease or the caller gives up. Something that ignores its signal
 * is left behind, so that its caller goes on.
 */
export function withDeadline<T>(deadline: Deadline, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, what, timeoutMs, signal } = deadline;
  const ending = new AbortController();
  const endMs = clock.monotonic() + timeoutMs;
  return new Promise<T>((resolve, reject) => {
    let cancelAlarm = (): void => {};
    const giveUp = (why: string): void => {
      finish();
      const fault = new Fault('unavailable', `${what} ${why}.`);
      ending.abort(fault);
      reject(fault);
    };
    const abandoned = (): void => giveUp('was cancelled');
    const watch = (): void => {
      const leftMs = endMs - clock.monotonic();
      const leaseMs = deadline.leaseLeftMs() - LEAST_LEASE_MS;
      if (leftMs <= 0) return giveUp(`did not answer within ${formatDuration(timeoutMs)}`);
      if (leaseMs <= 0) return giveUp('was cancelled because this process is about to lose the lease');
      cancelAlarm = clock.alarm(Math.ceil(Math.min(leftMs, leaseMs)), watch);
    };
    const finish = (): void => {
      cancelAlarm();
      signal.removeEventListener('abort', abandoned);
    };
    if (signal.aborted) return abandoned();
    signal.addEventListener('abort', abandoned, { once: true });
    watch();
    if (ending.signal.aborted) return;
    (async () => run(ending.signal))().then(
      (answer) => {
        finish();
        resolve(answer);
      },
      (thrown) => {
        finish();
        reject(thrown);
      },
    );
  });
}
