import type { Machine } from '#core/provider.ts';

/** One whole good answer of a cloud. */
export interface Listing {
  readonly cloud: string;
  /** On the monotonic clock; what happened later may or may not be in it. */
  readonly startedMs: number;
  /** When it was complete, for people. */
  readonly endedAt: number;
  readonly machines: ReadonlyMap<string, Machine>;
  /** How many good ones there were since the start, this one included. */
  readonly count: number;
  /** The good one before it. Failed ones between the two change nothing. */
  readonly before?: Pick<Listing, 'startedMs' | 'machines'> | undefined;
}

/** Whether it started after `sinceMs` and does not show that machine. */
export function isAbsent(listing: Pick<Listing, 'startedMs' | 'machines'>, name: string, sinceMs: number): boolean {
  return listing.startedMs > sinceMs && !listing.machines.has(name);
}

/** Whether a machine that was there at `sinceMs` is gone: one listing may be late or wrong, two in a row count. */
export function isGone(listing: Listing | undefined, name: string, sinceMs: number): boolean {
  const before = listing?.before;
  return before !== undefined && isAbsent(before, name, sinceMs) && isAbsent(listing as Listing, name, sinceMs);
}
