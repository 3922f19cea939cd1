// A feature with one computer, `desk`, for tests: it asks for machines of the use `computer`.
import type { Clouds } from '#clouds/clouds.ts';
import type { AgentLink } from '#core/agent-link.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { BootSettings } from '#core/feature.ts';
import type { MachineRow } from '#core/machine.ts';
import type { Store } from '#core/store.ts';
import { OFFER } from '#core/testing/pool.ts';
import type { Journal } from '#journal/journal.ts';
import { askFor } from '../launch.ts';
import { isLost, lossOf } from '../loss.ts';
import type { Machines } from '../machines.ts';
import { afterListing } from '../observation.ts';
import { listedOf, type OwnedMachines } from '../owned-machines.ts';
import { carryOutRemovals, removalOf } from '../removal.ts';
import { resolveLaunches } from '../resolve-launches.ts';

export const DESK = { id: 'id-desk', name: 'desk' };

export interface DeskMachine extends MachineRow {
  readonly owner: string;
}

export interface Desk {
  readonly owned: OwnedMachines<DeskMachine>;
  create(): void;
  remove(): void;
}

export interface DeskDeps {
  readonly machines: Machines;
  readonly store: Store;
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly clock: Clock;
  readonly boot?: BootSettings;
  readonly link?: AgentLink;
}

/** Its rows outlive the process, as those of a table do. */
export function startDesk(
  { machines, store, journal, clouds, clock, boot, link }: DeskDeps,
  rows: Map<string, DeskMachine>,
): Desk {
  const event = (kind: string, id: string, message: string) =>
    journal.event({ kind, subject: `computer/${id}`, message });
  const owned: OwnedMachines<DeskMachine> = machines.register<DeskMachine>(
    {
      use: 'computer',
      noun: 'computer',
      get: (id) => rows.get(id),
      named: (machine) => [...rows.values()].find((row) => row.machine === machine),
      rowsOf: () => [...rows.values()],
      launched: (launch) => [...rows.values()].find((row) => row.launch === launch),
      ownerOf: ({ owner }) => owner,
      isOwner: (id) => id === DESK.id,
      ownerNamed: () => DESK,
      isHeld: () => false,
      isWanted: () => true,
      isOutdated: () => false,
      keepsParked: () => false,
      offersInUse: () => [OFFER.id],
      hasRowsOf: () => rows.size > 0,
      statedPrice: () => undefined,
      row: (owner, fields) => ({ ...fields, owner }),
      put(row) {
        rows.set(row.id, row);
        return event('computer.changed', row.id, 'Changed.');
      },
      drop({ id }) {
        rows.delete(id);
        return [];
      },
      event: ({ id }, { kind, message }) => event(`computer.${kind}`, id, message),
      adopt: () => [],
      launchFailed: () => {},
      launchAgreed: () => {},
      connected: ({ id }, { labels }) => ({
        labels: { ...labels, room: '7' },
        changes: [event('computer.connected', id, 'Connected.')],
      }),
      disconnected: ({ id }) => [event('computer.disconnected', id, 'Disconnected.')],
      leaving: ({ id }) => void link?.send(id, { do: 'drain', stop: true }),
      removed: () => {},
      poke: () => clock.soon(pass),
    },
    () => ({}),
  );

  function pass(): void {
    for (const row of [...rows.values()]) {
      const listing = clouds.listing(row.offer ?? '');
      const nowMs = clock.monotonic();
      const shown = { listing, machine: listedOf(owned, row), nowMs };
      owned.observations.observe(row, afterListing(owned.base, owned.observations.of(row), row, shown));
      if (!row.removal && isLost(row, owned.observations.of(row), listing)) owned.base.commit(lossOf(owned, row));
    }
    resolveLaunches(owned, DESK.id);
    carryOutRemovals(
      owned,
      [...rows.values()].filter((row) => row.removal),
    );
  }

  clouds.follow(DESK.id, [OFFER], 10 * SECOND_MS);
  owned.waiting.add(DESK.id);
  return {
    owned,
    create() {
      const agentConfig = boot?.agentConfig({ name: DESK.name, slots: 1 }) ?? DESK.name;
      const record = { agentConfig, install: boot?.install(), count: 1, owner: DESK, offer: OFFER };
      owned.base.commit(askFor(owned, { ...record, event: ({ id }) => event('computer.asked', id, 'Asked.') }));
      pass();
    },
    remove() {
      owned.base.commit([...rows.values()].flatMap((row) => removalOf(owned, row, 'not needed')));
      void store.durable().then(pass);
    },
  };
}
