import { type Clock, sleepOn } from '#core/clock.ts';

/** The clock of one process: once that is dead nothing rings for it any more, while the world's clock goes on. */
export function processClock(world: Clock, isAlive: () => boolean): Clock {
  const whileAlive = (run: () => void) => (): void => {
    if (isAlive()) run();
  };
  const clock: Clock = {
    now: () => world.now(),
    monotonic: () => world.monotonic(),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    alarm: (ms, ring) => world.alarm(ms, whileAlive(ring)),
    soon: (run) => world.soon(whileAlive(run)),
  };
  return clock;
}
