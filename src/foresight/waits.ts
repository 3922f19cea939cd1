import type { Waits } from '#core/forecast.ts';

export function waitsOf(waitsMs: readonly number[]): Waits {
  const sorted = Float64Array.from(waitsMs).sort();
  return { p50Ms: shareOf(sorted, 0.5), p95Ms: shareOf(sorted, 0.95), p99Ms: shareOf(sorted, 0.99) };
}

/** The value that this share of sorted values does not exceed; 0 where there is none. */
export const shareOf = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
