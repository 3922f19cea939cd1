// Machines that end without us: gone from the cloud, failed there, or stopped outside Muster.
import { isGone, type Listing } from '#clouds/listing.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Machine, Trouble } from '#core/provider.ts';
import type { Change } from '#core/store.ts';
import { endingOf } from './ended.ts';
import type { Observation } from './observation.ts';
import { isCreating } from './operations.ts';
import type { OwnedMachines } from './owned-machines.ts';
import { lifetimeOf } from './removal.ts';

/** Whether its cloud has put another machine under its name, as instance groups do that heal themselves. */
function isReplaced({ machine, machineId, parked, isWaking }: MachineRow, listing: Listing | undefined): boolean {
  if (machineId === undefined || parked || isWaking) return false;
  return (listing?.machines.get(machine)?.id ?? machineId) !== machineId;
}

/**
 * Whether its row may be dropped: two listings did not show it, or one showed another machine under its name, and its launch
 * is resolved. The caller knows that it runs no work.
 */
export function isLost(row: MachineRow, { missedFromMs }: Observation, listing: Listing | undefined): boolean {
  if (row.offer === undefined || (row.createdAt === undefined && row.joinedAt === undefined)) return false;
  return isReplaced(row, listing) || isGone(listing, row.machine, missedFromMs);
}

/** Why an existing machine without work has failed for good; undefined if it has not, or its operation will tell. */
export function troubleOf<R extends MachineRow>(
  owned: Pick<OwnedMachines<R>, 'base'>,
  row: R,
  machine: Machine | undefined,
): Trouble | undefined {
  if (!machine) return undefined;
  const { trouble, state } = machine;
  const isHopeless = trouble?.final === true && row.joinedAt === undefined;
  if (state !== 'failed' && !isHopeless) return undefined;
  if (!trouble && isCreating(owned, row)) return undefined;
  return trouble ?? { kind: 'unavailable', message: 'the machine failed', final: true };
}

/** Its machine is gone: only now may its sessions be requeued. */
export function lossOf<R extends MachineRow>(owned: OwnedMachines<R>, row: R): Change[] {
  const isUnmet = row.joinedAt === undefined;
  const message = `Machine gone from the cloud${isUnmet ? ' before its agent joined' : ''}.`;
  const fields = { lifetime: lifetimeOf(owned, row) };
  return [...endingOf(owned, row, { how: 'gone' }), owned.event(row, { kind: 'gone', message, fields })];
}

/** Asks for fresh listings until two have started since the machine was last seen; each one wakes its owner. */
export function lookForLost<R extends MachineRow>({ base, observations }: OwnedMachines<R>, row: R): void {
  if (row.joinedAt === undefined || row.offer === undefined || row.removal || row.parked) return;
  const before = base.clouds.listing(row.offer)?.before;
  if (!before || before.startedMs <= observations.of(row).missedFromMs) base.clouds.refresh(row.offer);
}
