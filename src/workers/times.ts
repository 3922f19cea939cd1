import { MINUTE_MS } from '#core/clock.ts';

/** How long this folder waits for things that come by themselves. */
export interface Times {
  /** After a start, workers that had joined count as present for this long. */
  readonly reconnectGraceMs: number;
  /** A worker that has just left counts as present for this long: most connections come back at once. */
  readonly returnGraceMs: number;
  /**
   * A lost worker without sessions is given up after this time. One with sessions never is: its work may still run, so
   * it waits for its return, for its machine to vanish from the cloud, or for an operator who drains it.
   */
  readonly lostAfterMs: number;
  /** How late a cloud may show what it has already done. */
  readonly listLagMs: number;
  /** A machine that was never listed is missed only after this time from its making. */
  readonly firstListingMs: number;
  /** Losses further apart than this are no mass loss. */
  readonly lossWindowMs: number;
  /** A machine that the cloud agreed to delete, and that is still running after this time, is deleted again. */
  readonly deleteAgainMs: number;
  /** While machines are being deleted their cloud is listed this often. */
  readonly deletingListMs: number;
  /** A parked machine that there was no room to wake is not tried again before; others are made in its place. */
  readonly noRoomMs: number;
  /** The first wait of the guard against machines that never join; it doubles up to the longest. */
  readonly runawayMs: number;
  readonly longestRunawayMs: number;
  /** How often offers that nobody uses any more are looked for. */
  readonly tidyOffersMs: number;
  /** Between two passes of a pool whose sessions come and go. */
  readonly passGapMs: number;
}

export const DEFAULT_TIMES: Times = {
  reconnectGraceMs: 2 * MINUTE_MS,
  returnGraceMs: 30_000,
  lostAfterMs: 10 * MINUTE_MS,
  listLagMs: 10_000,
  firstListingMs: 30_000,
  lossWindowMs: 10 * MINUTE_MS,
  deleteAgainMs: 2 * MINUTE_MS,
  deletingListMs: 10_000,
  noRoomMs: 10 * MINUTE_MS,
  runawayMs: MINUTE_MS,
  longestRunawayMs: 30 * MINUTE_MS,
  tidyOffersMs: 10 * MINUTE_MS,
  passGapMs: 10,
};
