import { Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';

export interface BestEffortOptions {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** For the log: `cannot find out why droplets failed`. */
  readonly warning: string;
}

/** Asks for something that a listing is complete without: where that fails, the log says so, and a later listing asks again. */
export async function bestEffort(
  { log, signal, warning }: BestEffortOptions,
  ask: () => Promise<unknown>,
): Promise<void> {
  try {
    await ask();
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const { message, remedy } = Fault.from(thrown);
    log('warn', warning, { error: message, remedy });
  }
}
