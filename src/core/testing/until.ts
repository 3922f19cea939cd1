import { type Clock, systemClock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';

const FIRST_LOOK_MS = 5;
const LOOK_EVERY_MS = 50;
// Each look may be a request, a listing of all processes or a refused connection: most of the time they go on waiting.
const GROWTH = 1.3;
// Only a hang reaches it: the machine may be many times overloaded.
const PATIENCE_MS = 240_000;
// Once a wait has run out, the run has failed: the waits that follow must not keep it from ending for hours.
const LATER_PATIENCE_MS = 10_000;

type Present<T> = Exclude<T, undefined | null | false | ''>;

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== false && value !== '';

/** A program that is not installed does not come by waiting. */
function isMissingProgram(thrown: unknown): boolean {
  const { code, syscall, path = '' } = (thrown ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOENT' && syscall?.startsWith('spawn') === true && !path.includes('/');
}

type Until = <T>(what: string, ask: () => T | Promise<T>) => Promise<Present<T>>;

async function look<T>(ask: () => T | Promise<T>): Promise<{ readonly found?: Present<T>; readonly seen: string }> {
  try {
    const value = await ask();
    return isPresent(value) ? { found: value as Present<T>, seen: '' } : { seen: `${JSON.stringify(value)}` };
  } catch (thrown) {
    if (isMissingProgram(thrown)) throw thrown;
    return { seen: thrown instanceof Error ? thrown.message : JSON.stringify(thrown) };
  }
}

export function openUntil(clock: Clock): Until {
  let patienceMs = PATIENCE_MS;

  function giveUp(what: string, seen: string, withinMs: number): never {
    patienceMs = LATER_PATIENCE_MS;
    const why = withinMs < PATIENCE_MS ? ', as short as that since another wait ran out before' : '';
    throw new Fault('unavailable', `Not within ${withinMs} ms${why}: ${what}. Last seen: ${seen}`);
  }

  return async <T>(what: string, ask: () => T | Promise<T>) => {
    const withinMs = patienceMs;
    const deadlineMs = clock.monotonic() + withinMs;
    for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * GROWTH, LOOK_EVERY_MS)) {
      const { found, seen } = await look(ask);
      if (found !== undefined) return found;
      if (clock.monotonic() >= deadlineMs) giveUp(what, seen, withinMs);
      await clock.sleep(waitMs);
    }
  };
}

/** Asks until the answer is there: nothing, an empty text, and what is thrown count as not yet. */
export const until: Until = openUntil(systemClock);

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
