// Which listed machines need no look: their cloud shows them exactly as the review before did, and they had a row then.
import type { Listing } from '#clouds/listing.ts';
import type { Machine } from '#core/provider.ts';

export interface ReviewCache {
  /** Begins the review of a listing; what has no row in it is looked at again in the next one. */
  begin(listing: Listing): Reviewed;
  /** The row of that machine is no more; without its cloud every machine is looked at again. */
  invalidate(cloud: string | undefined, machine: string): void;
}

export interface Reviewed {
  /** Where the listing shows all as before: the machines to look at all the same. */
  readonly onlyThese: readonly Machine[] | undefined;
  /** The same machine in the listing before. */
  before(machine: Machine): Machine | undefined;
  isUnchanged(machine: Machine, before: Machine | undefined): boolean;
  /** It has no row, or none that can be known yet. */
  keepForNextReview(machine: Machine): void;
}

// A row may be lost without a report: all machines are checked at intervals.
const ALL_EVERY = 8;

interface Kept {
  readonly machines: Listing['machines'];
  readonly open: Set<string>;
}

export function openReviewCache(): ReviewCache {
  const byCloud = new Map<string, Kept>();
  return {
    begin(listing) {
      const { cloud, machines, count } = listing;
      const last = byCloud.get(cloud);
      // A listing that was never reviewed settles nothing.
      const unsettled = count % ALL_EVERY > 0 && last?.machines === listing.before?.machines ? last?.open : undefined;
      const open = new Set<string>();
      // From the start: what happens between two slices of this review counts for the next.
      byCloud.set(cloud, { machines, open });
      const isSame = unsettled !== undefined && machines === listing.before?.machines;
      return {
        onlyThese: isSame ? [...unsettled].flatMap((name) => machines.get(name) ?? []) : undefined,
        before: sameIn(listing.before?.machines),
        isUnchanged: (machine, before) => machine === before && unsettled?.has(machine.name) === false,
        keepForNextReview: ({ name }) => void open.add(name),
      };
    },
    invalidate(cloud, machine) {
      if (cloud === undefined) byCloud.clear();
      else byCloud.get(cloud)?.open.add(machine);
    },
  };
}

/** Clouds list in the same order most of the time: then the two are compared side by side, without a search. */
function sameIn(machines: Listing['machines'] | undefined): (machine: Machine) => Machine | undefined {
  if (!machines) return () => undefined;
  const values = machines.values();
  let next = values.next().value;
  return (machine) => {
    const before = next === machine ? machine : machines.get(machine.name);
    if (!before) return undefined;
    while (next && next !== before) next = values.next().value;
    next = values.next().value;
    return before;
  };
}
