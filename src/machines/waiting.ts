// Which owners a listing wakes: most listings show what the one before showed, and a pass would find nothing to do.
import type { Listing } from '#clouds/listing.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Machine } from '#core/provider.ts';

/** The owners for which a listing may change anything: some machine is not where it should be. */
export interface Waiting {
  /** Every listing may. With `underWay`: only one that shows these machines otherwise than the listing before. */
  add(owner: string, underWay?: readonly MachineRow[]): void;
  delete(owner: string): void;
  has(owner: string): boolean;
  /** The owners, each with the machines that are all it waits for. */
  all(): Iterable<readonly [owner: string, underWay: readonly MachineRow[] | undefined]>;
}

export function openWaitingOwners(): Waiting {
  const owners = new Map<string, readonly MachineRow[] | undefined>();
  return {
    add: (owner, underWay) => void owners.set(owner, underWay),
    delete: (owner) => void owners.delete(owner),
    has: (owner) => owners.has(owner),
    all: () => owners,
  };
}

/** Shown in a state in which the next listing says nothing new as long as it shows the same. */
export const isUnderWay = (machine: Machine | undefined): boolean =>
  machine?.state === 'running' || machine?.state === 'creating';

/** Whether any of these machines is shown otherwise than in the listing before, or is not shown. */
export function hasChanged(
  listing: Listing,
  rows: readonly MachineRow[],
  cloudOf: (offer: string) => string | undefined,
): boolean {
  return rows.some(({ offer, machine, removal }) => {
    if (offer === undefined || cloudOf(offer) !== listing.cloud) return false;
    const shown = listing.machines.get(machine);
    const before = listing.before?.machines.get(machine);
    if (!shown || !before) return true;
    // It goes as it should.
    if (removal && shown.state === 'deleting') return false;
    return shown !== before && !looksAlike(shown, before);
  });
}

const looksAlike = (one: Machine, other: Machine): boolean =>
  (one.state === other.state || (isUnderWay(one) && isUnderWay(other))) &&
  one.trouble?.kind === other.trouble?.kind &&
  one.trouble?.message === other.trouble?.message &&
  one.trouble?.final === other.trouble?.final;
