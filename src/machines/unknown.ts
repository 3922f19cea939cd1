// Machines of kinds without tags: their owner is unknown until their agent joins.
import { Fault, retryDelayMs } from '#core/fault.ts';
import type { LaunchRecord, MachineRow } from '#core/machine.ts';
import { readMark } from '#core/mark.ts';
import type { Offer } from '#core/pool.ts';
import type { Machine } from '#core/provider.ts';
import type { OwnedMachines } from './owned-machines.ts';

/** A listed machine that bears no mark and has no record. */
export interface UnknownMachine {
  readonly machine: Machine;
  readonly offer: string;
  readonly sinceMs: number;
  /** Its cloud has been asked to delete it, or will be again. */
  readonly isDeleting: boolean;
}

/** By their owners, then by their names. */
export interface UnknownMachines {
  isAny(): boolean;
  of(owner: string): ReadonlyMap<string, UnknownMachine>;
  observe(owner: string, name: string, unknown: UnknownMachine | undefined): void;
  forget(owner: string): void;
}

const NONE: ReadonlyMap<string, UnknownMachine> = new Map();

export function openUnknownMachines(): UnknownMachines {
  const byOwner = new Map<string, Map<string, UnknownMachine>>();
  return {
    isAny: () => byOwner.size > 0,
    of: (owner) => byOwner.get(owner) ?? NONE,
    observe(owner, name, unknown) {
      const names = byOwner.get(owner) ?? new Map<string, UnknownMachine>();
      if (unknown) byOwner.set(owner, names.set(name, unknown));
      else if (names.delete(name) && names.size === 0) byOwner.delete(owner);
    },
    forget: (owner) => void byOwner.delete(owner),
  };
}

/** Listed without mark and without record: it counts in the size of its owner until it is known. */
export function observeUnknown<R extends MachineRow>(
  { base, unknown, poke }: OwnedMachines<R>,
  owner: string,
  seen: { machine: Machine; offer: string },
): void {
  if (unknown.of(owner).has(seen.machine.name)) return;
  unknown.observe(owner, seen.machine.name, { ...seen, sinceMs: base.clock.monotonic(), isDeleting: false });
  poke(owner);
}

/** Forgets those that two listings in a row did not show, and those that have become known. */
export function forgetKnown<R extends MachineRow>(
  { unknown, poke }: OwnedMachines<R>,
  owner: string,
  isStillUnknown: (name: string, offer: string) => boolean,
): void {
  for (const [name, { offer }] of [...unknown.of(owner)]) {
    if (isStillUnknown(name, offer)) continue;
    unknown.observe(owner, name, undefined);
    poke(owner);
  }
}

/**
 * A launch without an answer may have made a machine under a name of its cloud's choosing: an unknown machine that came
 * since it was asked for is taken for it. Its name is answered, and it is unknown no longer.
 */
export function claimUnknown<R extends MachineRow>(owned: OwnedMachines<R>, record: LaunchRecord): string | undefined {
  const { owner } = readMark(record.mark);
  const unknown = owned.unknown.of(owner);
  if (unknown.size === 0 || isAnyCalling(owned, owner)) return undefined;
  for (const [name, { machine, offer, isDeleting }] of unknown) {
    const isNewer = machine.createdAt === 0 || machine.createdAt >= record.askedAt;
    if (offer !== record.offer || isDeleting || !isNewer) continue;
    owned.unknown.observe(owner, name, undefined);
    return name;
  }
  return undefined;
}

/** Then an unknown machine may belong to that call, whose answer will tell. */
export function isAnyCalling<R extends MachineRow>({ base, calls }: OwnedMachines<R>, owner: string): boolean {
  for (const { id } of base.store.view.launches.by('owner', owner)) {
    if (calls.launches.get(id)?.isCalling) return true;
  }
  return false;
}

/** Deletes a machine that stayed unknown for longer than its owner allows; a failure leaves it for the next pass. */
export function deleteUnknown<R extends MachineRow>(
  owned: OwnedMachines<R>,
  owner: string,
  { name, offers }: { name: string; offers: readonly Offer[] },
): void {
  const { store, clouds, stopping, random, log, times, clock } = owned.base;
  const known = owned.unknown.of(owner).get(name);
  const offer = known && (store.view.offers.get(known.offer) ?? offers.find(({ id }) => id === known.offer));
  if (!known || known.isDeleting || !offer) return;
  const deleting = { ...known, isDeleting: true };
  owned.unknown.observe(owner, name, deleting);
  const isStill = (): boolean => owned.unknown.of(owner).get(name) === deleting;
  owned.base.start('delete unknown', async () => {
    const [outcome] = await clouds
      .delete(offer, [known.machine], { owner, signal: stopping })
      .catch((thrown) => [{ name, fault: Fault.from(thrown) }]);
    // A name that is left out is unclear; and what is still listed long after the cloud agreed is deleted again.
    const fault = outcome ? outcome.fault : new Fault('unavailable', 'The cloud reported no result for this machine.');
    const waitMs = fault ? retryDelayMs(fault, 1, random.next()) : times.deleteAgainMs;
    if (fault) {
      const about = { [owned.noun]: owner, machine: name, error: fault.message, waitMs };
      log('warn', 'cannot delete unknown machine', about);
    }
    const isListed = (): boolean => clouds.listing(known.offer)?.machines.has(name) === true;
    do await clock.sleep(waitMs, stopping);
    while (!fault && !stopping.aborted && isStill() && !isListed());
    if (isStill()) owned.unknown.observe(owner, name, known);
    owned.poke(owner);
  });
}
