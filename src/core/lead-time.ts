import { MINUTE_MS, SECOND_MS } from './clock.ts';

const MOST_LEAD_MS = 15 * MINUTE_MS;
// Of a pool that has never launched a machine.
const USUAL_LEAD_MS = 5 * MINUTE_MS;
const P95 = 0.95;

// A pool asks at every pass, and its times are another list with each machine that joins.
const leadTimes = new WeakMap<readonly number[], number>();

/** How much earlier than its window a worker is launched: 95 of 100 machines are ready in that time. */
export function leadTimeOf(readyMs: readonly number[]): number {
  if (readyMs.length === 0) return USUAL_LEAD_MS;
  const known = leadTimes.get(readyMs) ?? slowest(readyMs);
  leadTimes.set(readyMs, known);
  return known;
}

function slowest(readyMs: readonly number[]): number {
  const sorted = readyMs.toSorted((a, b) => a - b);
  const longest = sorted[Math.ceil(P95 * sorted.length) - 1] ?? USUAL_LEAD_MS;
  return Math.min(MOST_LEAD_MS, Math.ceil(longest / SECOND_MS) * SECOND_MS);
}
