// Many writes to one API server: a few at a time, again where it has too much to do, and what is unclear stays unclear.
import type { Clock } from '#core/clock.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import type { Outcome } from '#core/provider.ts';

// Sixteen calls of the server may be under way, and an API server takes 200 writes at a time from all its clients.
const CALLS_AT_A_TIME = 4;
// As the clients of Kubernetes itself do.
const MOST_TRIES = 5;
const RETRY_AFTER_MS = 1_000;

/** The fault of one name; an unclear one is thrown, since it says nothing about the name. */
export function outcomeOf(name: string, thrown: unknown): Outcome {
  const fault = Fault.from(thrown);
  if (isUnclear(fault.kind)) throw fault;
  return { name, fault };
}

/** An API server with too much to do refuses before it begins: the same again, after the time that it asks for. */
export async function untilTaken(clock: Clock, signal: AbortSignal, run: () => Promise<Outcome>): Promise<Outcome> {
  for (let tries = 1; ; tries++) {
    const outcome = await run();
    if (outcome.fault?.kind !== 'throttled' || tries === MOST_TRIES) return outcome;
    await clock.sleep(outcome.fault.retryAfterMs ?? RETRY_AFTER_MS, signal);
  }
}

/** A few at a time, so that a thousand pods do not open a thousand connections. Names whose answer is unclear are left out. */
export async function inTurns<T>(items: readonly T[], run: (item: T) => Promise<Outcome>): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let unclear: unknown;
  const waiting = items.values();
  async function work(): Promise<void> {
    for (const item of waiting) {
      try {
        outcomes.push(await run(item));
      } catch (thrown) {
        // Where the API server is away, it is so for the others too.
        unclear ??= thrown;
        return;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(CALLS_AT_A_TIME, items.length) }, work));
  if (outcomes.length === 0 && unclear !== undefined) throw unclear;
  return outcomes;
}
