// Which machines of a launch its cloud has agreed to make and is not done with: kept in the launch row, so that any server can ask.
import type { LaunchRecord, MachineRow } from '#core/machine.ts';
import { type Change, drop, put } from '#core/store.ts';
import type { OwnedMachines } from './owned-machines.ts';

type LaunchesOf = Pick<OwnedMachines, 'calls'> & { readonly base: Pick<OwnedMachines['base'], 'store'> };

/** Whether its cloud has agreed to make it, and how that ends is not known yet. */
export function isCreating({ base }: Pick<LaunchesOf, 'base'>, { id, launch = '' }: MachineRow): boolean {
  return base.store.view.launches.get(launch)?.operations?.[id] !== undefined;
}

/** Keeps the operations of a launch; without any, and with every name answered, the launch is over. */
export function keepOperations(
  owned: LaunchesOf,
  record: LaunchRecord,
  { operations, isAnswered }: { operations: Readonly<Record<string, string>>; isAnswered: boolean },
): Change[] {
  // Its offer may have become another one since it was called.
  const current = owned.base.store.view.launches.get(record.id);
  if (!current) return [];
  const isOpen = Object.keys(operations).length > 0;
  if (!isOpen && isAnswered) return launchOver(owned, record.id);
  if (!isOpen && !current.operations) return [];
  return [put('launches', { ...current, operations: isOpen ? operations : undefined })];
}

export function launchOver({ calls }: Pick<LaunchesOf, 'calls'>, launch: string): Change[] {
  calls.launches.delete(launch);
  return [drop('launches', launch)];
}
