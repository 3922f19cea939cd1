import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

const LOOK_EVERY_MS = 50;
// The machine may be busy with other tests: a limit that is only there to end a wait is a long one.
export const PATIENCE_MS = 25_000;

type Present<T> = Exclude<T, undefined | null | false | ''>;

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== false && value !== '';

/** Asks until the answer is there: nothing, an empty text, and whatever is thrown count as not yet. */
export async function until<T>(what: string, ask: () => T | Promise<T>, withinMs = PATIENCE_MS): Promise<Present<T>> {
  const deadlineMs = systemClock.monotonic() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      last = await ask();
      if (isPresent(last)) return last as Present<T>;
    } catch (thrown) {
      last = thrown;
    }
    if (systemClock.monotonic() >= deadlineMs) {
      const seen = last instanceof Error ? last.message : JSON.stringify(last);
      throw new Fault('unavailable', `Not within ${withinMs} ms: ${what}. Last seen: ${seen}`);
    }
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}

/** Asserts all the time: throws as soon as it does not hold. */
export async function throughout(ms: number, holds: () => void | Promise<void>): Promise<void> {
  const deadlineMs = systemClock.monotonic() + ms;
  while (systemClock.monotonic() < deadlineMs) {
    await holds();
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
