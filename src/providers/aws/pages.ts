import type { Clock } from '#core/clock.ts';
import { Fault, type FaultKind } from '#core/fault.ts';

// A listing of a thousand pages must not fail as a whole because one of them was refused for a moment.
const TRIES = 4;
const FIRST_WAIT_MS = 500;
const PASSING: ReadonlySet<FaultKind> = new Set(['throttled', 'unavailable']);

async function tried<T>(clock: Clock, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (attempt === TRIES || signal.aborted || !PASSING.has(fault.kind)) throw fault;
      await clock.sleep(fault.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (attempt - 1), signal);
    }
  }
}

/** Reads page after page until no token is left; an empty page with a token is not the end. Throws rather than ending early. */
export async function inPages(
  clock: Clock,
  signal: AbortSignal,
  read: (token: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  let token: string | undefined;
  do {
    if (signal.aborted) throw new Fault('unavailable', 'The listing was given up.');
    const at = token;
    token = (await tried(clock, signal, () => read(at))) || undefined;
    if (token !== undefined && token === at) throw new Fault('unavailable', 'A listing of AWS goes round in circles.');
  } while (token !== undefined);
}
