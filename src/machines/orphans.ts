// How long a machine with our mark and without a row may stay.
import type { Listing } from '#clouds/listing.ts';
import { formatDuration } from '#core/duration.ts';
import type { Offer } from '#core/pool.ts';
import type { Machine } from '#core/provider.ts';
import type { Base, OwnedMachines } from './owned-machines.ts';

/** A machine with our mark and without a row, and the feature that it was made for. */
export interface Orphan {
  readonly machine: Machine;
  readonly owner: string;
  readonly owned: OwnedMachines;
  /** By which it is deleted. */
  readonly offer: Offer;
}

interface SeenOrphan {
  readonly orphan: Orphan;
  readonly cloud: string;
  /** Since when this process has seen it: a restart begins anew, because nobody knows what was seen before. */
  readonly sinceMs: number;
  /** It had a row that was dropped: it was deleted or given up, and its cloud made or showed it late. */
  readonly hadRow: boolean;
  isTold: boolean;
}

export interface Orphans {
  /** Finds out about those that are seen for the first time. */
  observe(cloud: string, orphans: readonly Orphan[]): Promise<void>;
  /** Whether it is deleted now; tells once of one that stays. */
  isDue(orphan: Orphan): boolean;
  /** Those that have stayed for an owner. */
  of(owner: string): readonly Orphan[];
  /** Forgets those that their cloud does not show any more. */
  prune(listing: Listing): void;
  /** Its row was dropped: what was found out about it before is wrong now. */
  forget(machine: string): void;
}

export function openOrphans(base: Base): Orphans {
  const { clock, store, journal, log, commit } = base;
  const seen = new Map<string, SeenOrphan>();

  /** The history of a row is written in the commit that drops it, and names are never used again. */
  async function hadRow(machine: string): Promise<boolean> {
    await store.durable();
    return (await store.history.endedMachines({ machine }, { limit: 1, order: 'newest first' })).length > 0;
  }

  function tell({ machine, owned }: Orphan, stayMs: number): void {
    const then = stayMs === 0 ? 'lets it stay' : `deletes it after ${formatDuration(stayMs)}`;
    const message = `The machine has the tags of this cluster and no record. Its ${owned.noun} ${then}.`;
    log('warn', 'orphaned machine found', { machine: machine.name, [owned.noun]: machine.mark?.owner });
    commit([journal.event({ kind: 'machine.orphaned', subject: `machine/${machine.name}`, message })]);
  }

  return {
    async observe(cloud, orphans) {
      for (const orphan of orphans) {
        const { machine, owner, owned } = orphan;
        if (seen.has(machine.name) || owned.orphansStayMs?.(owner) === undefined) continue;
        const sinceMs = clock.monotonic();
        seen.set(machine.name, { orphan, cloud, sinceMs, hadRow: await hadRow(machine.name), isTold: false });
      }
    },
    isDue(orphan) {
      const { machine, owner, owned } = orphan;
      const stayMs = owned.orphansStayMs?.(owner);
      if (stayMs === undefined) return true;
      const known = seen.get(machine.name);
      if (!known || known.hadRow) return known !== undefined;
      if (stayMs > 0 && clock.monotonic() - known.sinceMs >= stayMs) return true;
      if (!known.isTold) tell(orphan, stayMs);
      known.isTold = true;
      return false;
    },
    of: (owner) => [...seen.values()].flatMap(({ orphan }) => (orphan.owner === owner ? [orphan] : [])),
    prune(listing) {
      for (const [name, { cloud }] of seen)
        if (cloud === listing.cloud && !listing.machines.has(name)) seen.delete(name);
    },
    forget: (machine) => void seen.delete(machine),
  };
}
