import { MINUTE_MS } from '#core/clock.ts';
import type { Base } from './owned-machines.ts';

/** How long this folder waits for what clouds do by themselves. */
export interface MachineTimes {
  /** How far listings of a cloud may lag behind. */
  readonly listLagMs: number;
  /** A machine that was never listed is missed only after this time from its making. */
  readonly firstListingMs: number;
  /** A machine that the cloud agreed to delete, and that is still running after this time, is deleted again. */
  readonly deleteAgainMs: number;
  /** While machines are being deleted their cloud is listed this often. */
  readonly deletingListMs: number;
  /** A parked machine without capacity to wake it is not retried before; others are launched instead. */
  readonly noRoomMs: number;
  /** How often unused offers are looked for. */
  readonly tidyOffersMs: number;
}

export const DEFAULT_MACHINE_TIMES: MachineTimes = {
  listLagMs: 10_000,
  firstListingMs: 30_000,
  deleteAgainMs: 2 * MINUTE_MS,
  deletingListMs: 10_000,
  noRoomMs: 10 * MINUTE_MS,
  tidyOffersMs: 10 * MINUTE_MS,
};

/** What tells how late listings may be. */
export type Lagging = Pick<Base, 'store' | 'clouds' | 'times'>;

/** Whether the listing of that offer's cloud shows at once what is; a cloud's may be late, this computer's never is. */
export function isExact({ store, clouds }: Pick<Base, 'store' | 'clouds'>, offer: string | undefined): boolean {
  const row = store.view.offers.get(offer ?? '');
  return row !== undefined && clouds.isExact(row);
}

/** How late that offer's cloud may show what it has already done. */
export function listLagMs(base: Lagging, offer: string | undefined): number {
  return isExact(base, offer) ? 0 : base.times.listLagMs;
}

/** How long after its making a machine of that offer may be unlisted. */
export function firstListingMs(base: Lagging, offer: string): number {
  return isExact(base, offer) ? 0 : base.times.firstListingMs;
}
