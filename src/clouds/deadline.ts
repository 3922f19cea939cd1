import type { Clock } from '#core/clock.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';

export interface Deadline {
  readonly what: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Rest of the lease; checked again whenever it would have expired. */
  leaseLeftMs(): number;
}

/** With less than this no call is sent: it could outlive the lease. */
export const LEAST_LEASE_MS = 250;

type Heard = () => void;

// Many calls share one long-lived signal: it has one listener for all of them, which costs less than one for each.
const hearers = new WeakMap<AbortSignal, Set<Heard>>();

function onAbort(signal: AbortSignal, heard: Heard): () => void {
  let all = hearers.get(signal);
  if (!all) {
    const made = new Set<Heard>();
    const tell = (): void => {
      for (const each of made) each();
    };
    signal.addEventListener('abort', tell, { once: true });
    hearers.set(signal, made);
    all = made;
  }
  const hearing = all.add(heard);
  return () => void hearing.delete(heard);
}

/**
 * Runs until it answers, times out, the lease ends or the caller aborts. Something that ignores its signal
 * is left behind, so that its caller goes on.
 */
export function withDeadline<T>(deadline: Deadline, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, what, timeoutMs, signal } = deadline;
  const ending = new AbortController();
  const endMs = clock.monotonic() + timeoutMs;
  return new Promise<T>((resolve, reject) => {
    let cancelAlarm = (): void => {};
    let stopHearing = (): void => {};
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
      stopHearing();
    };
    if (signal.aborted) return abandoned();
    stopHearing = onAbort(signal, abandoned);
    watch();
    if (ending.signal.aborted) return;
    const failed = (thrown: unknown): void => {
      finish();
      reject(thrown);
    };
    try {
      // A kind from outside may answer without a promise.
      Promise.resolve(run(ending.signal)).then((answer) => {
        finish();
        resolve(answer);
      }, failed);
    } catch (thrown) {
      failed(thrown);
    }
  });
}
