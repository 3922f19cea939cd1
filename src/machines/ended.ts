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
  const { id, offer, askedAt, createdAt, joinedAt, removal, parked, ranBefore } = row;
  const kept = offer === undefined ? undefined : store.view.offers.get(offer);
  if (!kept) return [...owned.drop(row)];
  const fault = end.fault && { kind: end.fault.kind, message: journal.redact(end.fault.message) };
  const owner = owned.ownerOf(row);
  const { name: ownerName, source } = owned.ownerNamed(owner) ?? {};
  const about = { machine: id, use: owned.use, owner, ownerName, source, offer: kept.id, kind: kept.kind };
  const { stoppedAt } = parked ?? {};
  const times = { askedAt, createdAt, joinedAt, removedAt: removal?.at, endedAt: clock.now(), stoppedAt, ranBefore };
  const isMade = createdAt !== undefined && !removal?.isNotMade;
  const prices = isMade ? pricesOf(owned, row, kept.prices) : { prices: undefined };
  return [
    ...owned.drop(row),
    append('endedMachines', { id: nextId(), ...about, ...times, how: end.how, fault, ...prices }),
  ];
}

/** A price that its owner states does not follow that of the cloud. */
function pricesOf<R extends MachineRow>(
  owned: OwnedMachines<R>,
  row: R,
  changes: readonly Price[] = [],
): Pick<EndedMachine, 'prices' | 'listed'> {
  const { askedAt, pricePerHour, offer = '' } = row;
  const isStated = owned.statedPrice(owned.ownerOf(row), offer) !== undefined;
  const before = changes.findLast(({ from }) => from <= askedAt);
  const perHour = pricePerHour ?? before?.perHour;
  const first = perHour === undefined ? [] : [{ from: askedAt, perHour }];
  const later = changes.filter(({ from }) => from > askedAt);
  if (isStated) return { prices: someOf(first), listed: before ? [before, ...later] : later };
  return { prices: someOf([...first, ...later].filter(({ perHour }, at, all) => perHour !== all[at - 1]?.perHour)) };
}

const someOf = (prices: readonly Price[]): readonly Price[] | undefined => (prices.length > 0 ? prices : undefined);
