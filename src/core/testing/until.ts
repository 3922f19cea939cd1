import { systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

const FIRST_LOOK_MS = 5;
const LOOK_EVERY_MS = 50;
// Each look may be a request, a listing of all processes or a refused connection: most of the time they go on waiting.
const GROWTH = 1.3;
// Only a hang reaches it: the machine may be many times overloaded.
const PATIENCE_MS = 240_000;

type Present<T> = Exclude<T, undefined | null | false | ''>;

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== false && value !== '';

/** A program that is not installed does not come by waiting. */
function isMissingProgram(thrown: unknown): boolean {
  const { code, syscall, path = '' } = thrown as NodeJS.ErrnoException;
  return code === 'ENOENT' && syscall?.startsWith('spawn') === true && !path.includes('/');
}

/** Asks until the answer is there: nothing, an empty text, and what is thrown count as not yet. */
export async function until<T>(what: string, ask: () => T | Promise<T>): Promise<Present<T>> {
  const deadlineMs = systemClock.monotonic() + PATIENCE_MS;
  let last: unknown;
  let waitMs = FIRST_LOOK_MS;
  for (;;) {
    try {
      last = await ask();
      if (isPresent(last)) return last as Present<T>;
    } catch (thrown) {
      if (isMissingProgram(thrown)) throw thrown;
      last = thrown;
    }
    if (systemClock.monotonic() >= deadlineMs) {
      const seen = last instanceof Error ? last.message : JSON.stringify(last);
      throw new Fault('unavailable', `Not within ${PATIENCE_MS} ms: ${what}. Last seen: ${seen}`);
    }
    await systemClock.sleep(waitMs);
    waitMs = Math.min(waitMs * GROWTH, LOOK_EVERY_MS);
  }
}

/** Tries assertions until they hold. */
export async function untilHolds(assertions: () => void | Promise<void>): Promise<void> {
  await until('assertions that hold', async () => {
    await assertions();
    return true;
  });
}

/** Asserts all the time: throws as soon as it does not hold. */
export async function throughout(ms: number, holds: () => void | Promise<void>): Promise<void> {
  const deadlineMs = systemClock.monotonic() + ms;
  while (systemClock.monotonic() < deadlineMs) {
    await holds();
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
