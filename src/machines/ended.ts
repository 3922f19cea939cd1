// The history of machines: what each was for, what it cost and how it ended, in the commit that drops its row.
import type { EndedMachine, EndFault, MachineRow } from '#core/machine.ts';
import type { Price } from '#core/pool.ts';
import { append, type Change } from '#core/store.ts';
import type { OwnedMachines } from './owned-machines.ts';

/** Changes that drop the row of a machine. One that no offer of ours made has no place in the history. */
export function endingOf<R extends MachineRow>(
  owned: OwnedMachines<R>,
  row: R,
  end: { readonly how: EndedMachine['how']; readonly fault?: EndFault | undefined },
): Change[] {
  const { store, clock, journal, nextId } = owned.base;
  const { id, offer, askedAt, createdAt, joinedAt } = row;
  const kept = offer === undefined ? undefined : store.view.offers.get(offer);
  if (!kept) return [...owned.drop(row)];
  const fault = end.fault && { kind: end.fault.kind, message: journal.redact(end.fault.message) };
  const about = { machine: id, use: owned.use, owner: owned.ownerOf(row), offer: kept.id, kind: kept.kind };
  const times = { askedAt, createdAt, joinedAt, removedAt: row.removal?.at, endedAt: clock.now() };
  const prices = createdAt === undefined ? undefined : pricesOf(owned, row, kept.prices);
  return [
    ...owned.drop(row),
    append('endedMachines', { id: nextId(), ...about, ...times, how: end.how, fault, prices }),
  ];
}

/** A price that its owner states does not follow that of the cloud. */
function pricesOf<R extends MachineRow>(
  owned: OwnedMachines<R>,
  row: R,
  changes: readonly Price[] = [],
): readonly Price[] | undefined {
  const { askedAt, pricePerHour, offer = '' } = row;
  const isStated = owned.statedPrice(owned.ownerOf(row), offer) !== undefined;
  const first = pricePerHour === undefined ? [] : [{ from: askedAt, perHour: pricePerHour }];
  const later = isStated ? [] : changes.filter(({ from }) => from > askedAt);
  const prices = [...first, ...later].filter(({ perHour }, at, all) => perHour !== all[at - 1]?.perHour);
  return prices.length > 0 ? prices : undefined;
}
