import { systemClock } from '#core/clock.ts';

const LOOK_EVERY_MS = 1;

export interface Stall {
  /** On the clock on the wall: what a client would have waited. */
  readonly wallMs: number;
  /** What the loop itself worked meanwhile; less than the wall where other programs had the processor. */
  readonly cpuMs: number;
}

/** What this thread has worked so far. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Looks at the event loop every millisecond; `stop` answers the longest time in which it could not. */
export function watchStalls(): { stop(): Stall } {
  let longest: Stall = { wallMs: 0, cpuMs: 0 };
  let lastMs = systemClock.monotonic();
  let lastCpuMs = threadCpuMs();
  let cancel = systemClock.alarm(LOOK_EVERY_MS, look);

  function note(): void {
    const nowMs = systemClock.monotonic();
    const nowCpuMs = threadCpuMs();
    longest = {
      wallMs: Math.max(longest.wallMs, nowMs - lastMs - LOOK_EVERY_MS),
      cpuMs: Math.max(longest.cpuMs, nowCpuMs - lastCpuMs),
    };
    lastMs = nowMs;
    lastCpuMs = nowCpuMs;
  }

  function look(): void {
    note();
    cancel = systemClock.alarm(LOOK_EVERY_MS, look);
  }

  return {
    stop() {
      cancel();
      note();
      return longest;
    },
  };
}
