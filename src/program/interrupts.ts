import type { Clock } from '#core/clock.ts';

type Heard = (signal: NodeJS.Signals) => void;

/** Calls `heard` at each of these signals in place of ending the process; the returned function ends that. */
export function onSignals(signals: readonly NodeJS.Signals[], heard: Heard): () => void {
  for (const signal of signals) process.on(signal, heard);
  return () => {
    for (const signal of signals) process.off(signal, heard);
  };
}

// A terminal sends Ctrl-C to npm and to us, and npm passes it on to us: late, where the machine is busy.
const SAME_INTERRUPT_MS = 2_000;

/** Stops at the first signal, and by force at one that follows later than npm passes on the first. */
export function stopThenForce(clock: Clock, stop: Heard, force: () => void): Heard {
  let firstAtMs: number | undefined;
  return (signal) => {
    if (firstAtMs === undefined) {
      firstAtMs = clock.monotonic();
      stop(signal);
    } else if (clock.monotonic() - firstAtMs > SAME_INTERRUPT_MS) force();
  };
}
