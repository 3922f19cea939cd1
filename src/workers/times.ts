import { MINUTE_MS } from '#core/clock.ts';
import { DEFAULT_MACHINE_TIMES, type MachineTimes } from '#machines/times.ts';

/** How long workers are waited for, and how long their machines. */
export interface Times extends MachineTimes {
  /** After a start, workers that had joined count as present for this long. */
  readonly reconnectGraceMs: number;
  /** A worker that has just disconnected counts as present for this long: most agents reconnect at once. */
  readonly returnGraceMs: number;
  /**
   * A lost worker without sessions is given up after this time. One with sessions never is: its work may still run, so
   * it waits for its return, for its machine to vanish or stop in the cloud, or for an operator who drains it.
   */
  readonly lostAfterMs: number;
  /** A worker whose machine was stopped outside Muster is removed after this time; then its sessions are requeued or fail. */
  readonly stoppedAfterMs: number;
  /** Losses further apart than this are no mass loss. */
  readonly lossWindowMs: number;
  /** The first wait of the guard against machines that never join; it doubles up to the longest. */
  readonly runawayMs: number;
  readonly longestRunawayMs: number;
  /** Between two passes of a pool whose sessions come and go, at least and at most. */
  readonly passGapMs: number;
  readonly longestPassGapMs: number;
}

export const DEFAULT_TIMES: Times = {
  ...DEFAULT_MACHINE_TIMES,
  reconnectGraceMs: 2 * MINUTE_MS,
  returnGraceMs: 30_000,
  lostAfterMs: 10 * MINUTE_MS,
  stoppedAfterMs: 10 * MINUTE_MS,
  lossWindowMs: 10 * MINUTE_MS,
  runawayMs: MINUTE_MS,
  longestRunawayMs: 30 * MINUTE_MS,
  passGapMs: 10,
  longestPassGapMs: 200,
};

const GAPS_PER_PASS = 50;

/** How long sessions leave a pool alone after a pass: a large pool that is busy costs at most a fiftieth of a core. */
export function gapAfter(tookMs: number, { passGapMs, longestPassGapMs }: Times): number {
  return Math.min(Math.max(passGapMs, tookMs * GAPS_PER_PASS), longestPassGapMs);
}
