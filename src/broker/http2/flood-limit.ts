import type { Clock } from '#core/clock.ts';

// Streams that are given up (CVE-2023-44487) or refused and settings that change: at once, and each second; as nghttp2 has it.
const MOST = 1_000;
const PER_S = 33;

/** Bounds what costs us more than the client. */
export class FloodLimit {
  #count = 0;
  #countedMs = 0;

  /** One more; false where it is one too many. */
  isWithin(clock: Pick<Clock, 'monotonic'>): boolean {
    const nowMs = clock.monotonic();
    this.#count = Math.max(0, this.#count - ((nowMs - this.#countedMs) * PER_S) / 1_000) + 1;
    this.#countedMs = nowMs;
    return this.#count <= MOST;
  }
}
