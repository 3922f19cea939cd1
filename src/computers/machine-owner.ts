// Registers computers as a use of machines: their rows, and what happens to a computer when its machine changes.
import type { Clouds } from '#clouds/clouds.ts';
import type { AgentLink } from '#core/agent-link.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { Computer, ComputerMachine } from '#core/computer.ts';
import { Fault } from '#core/fault.ts';
import type { Agent } from '#core/machine.ts';
import type { Offer } from '#core/pool.ts';
import type { Machine } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import { type Change, drop, put, type Store } from '#core/store.ts';
import { isFrozen } from '#core/worker.ts';
import type { Journal } from '#journal/journal.ts';
import { keepOffer } from '#machines/offers.ts';
import type { Failure, MachineOwner } from '#machines/owned-machines.ts';

export interface ComputerOwnerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly clouds: Clouds;
  readonly journal: Journal;
  readonly link: AgentLink;
  poke(computer: string): void;
}

export const computerSubject = (id: string): `computer/${string}` => `computer/${id}`;

// 2, 4, 8 … seconds, as the users of `max_retries` know it; a day at the most.
const LONGEST_WAIT_SECONDS = 2 ** 16;

/** How long to wait after so many refusals, with up to a quarter more. */
export const waitAfterRefusalMs = (refusals: number, random: number): number =>
  Math.round(Math.min(2 ** refusals, LONGEST_WAIT_SECONDS) * SECOND_MS * (1 + random / 4));

/** The computer after one more refusal. */
export function afterRefusal(computer: Computer, fault: Failure, at: number, random: number): Computer {
  const { kind, message, remedy } = fault;
  const refusals = computer.refusals + 1;
  const retryAt = at + waitAfterRefusalMs(refusals, random);
  return { ...computer, refusals, refused: { kind, message, ...(remedy && { remedy }), at, retryAt } };
}

export function computersAsOwner(deps: ComputerOwnerDeps): MachineOwner<ComputerMachine> {
  const { store, clock, random, clouds, journal, link, poke } = deps;
  const { view } = store;
  const event = (id: string, kind: string, message: string, fields?: Readonly<Record<string, unknown>>): Change =>
    journal.event({ kind: `computer.${kind}`, subject: computerSubject(id), message, fields });

  function launchFailed(id: string, fault: Failure): void {
    const computer = view.computers.get(id);
    if (!computer || computer.removal || computer.failure) return;
    const next = afterRefusal(computer, fault, clock.now(), random.next());
    const count = `${next.refusals}/${next.maxRetries}`;
    const kind = next.refusals < next.maxRetries ? 'retrying' : 'refused';
    const text = kind === 'retrying' ? `Error, retrying (${count}): ${fault.message}` : fault.message;
    void store.commit([put('computers', next), event(id, kind, text, { fault: fault.kind })]);
  }

  /** A machine that a restored backup did not contain is that of its computer, unless that has another one. */
  function adopt(machine: Machine, offer: Offer): Change[] {
    const computer = view.computers.get(machine.mark?.owner ?? '');
    if (!computer || view.computerMachines.count('computer', computer.id) > 0) return [];
    const { name: id, createdAt } = machine;
    const dates = { askedAt: createdAt, createdAt, joinedAt: createdAt };
    return [
      ...keepOffer(store, offer),
      put('computerMachines', { id, computer: computer.id, offer: offer.id, machine: id, ...dates }),
      event(computer.id, 'adopted', 'Adopted: the machine was launched before the backup was restored.'),
    ];
  }

  function connected({ computer: id }: ComputerMachine): readonly Change[] {
    const computer = view.computers.get(id);
    if (!computer || computer.removal || computer.failure)
      throw new Fault('denied', 'The computer of this agent is being removed.');
    poke(id);
    if (computer.awaySince === undefined) return [];
    return [
      put('computers', { ...computer, awaySince: undefined }),
      event(id, 'reconnected', 'Its agent is connected again.'),
    ];
  }

  function disconnected({ owner }: Agent): readonly Change[] {
    const computer = view.computers.get(owner);
    if (!computer || computer.removal || computer.failure) return [];
    clouds.refresh(computer.offer.id);
    return [
      put('computers', { ...computer, awaySince: clock.now() }),
      event(owner, 'disconnected', 'Its agent has disconnected.'),
    ];
  }

  const isKept = (id: string): boolean => {
    const computer = view.computers.get(id);
    return computer !== undefined && !computer.removal && !computer.failure;
  };

  return {
    use: 'computer',
    noun: 'computer',
    get: (id) => view.computerMachines.get(id),
    named: (machine) => [...view.computerMachines.by('machine', machine)][0],
    rowsOf: (computer) => view.computerMachines.by('computer', computer),
    launched: (launch) => [...view.computerMachines.by('launch', launch)][0],
    ownerOf: ({ computer }) => computer,
    isOwner: (id) => view.computers.get(id) !== undefined,
    ownerNamed: (id) => view.computers.get(id),
    isHeld: (computer) => isFrozen(store, computer),
    isWanted: ({ computer }) => isKept(computer),
    // A computer is what its creator asked for: it is never replaced.
    isOutdated: () => false,
    keepsParked: () => false,
    *offersInUse() {
      for (const { offer } of view.computers.all()) yield offer.id;
    },
    hasRowsOf: (offer) => view.computerMachines.count('offer', offer) > 0,
    statedPrice: () => undefined,
    row: (computer, fields) => ({ ...fields, computer }),
    put: (row) => put('computerMachines', row),
    drop: ({ id }) => [drop('computerMachines', id)],
    // A machine that failed may be tried again: the computer itself has not failed.
    event: ({ id, computer }, { kind, message, fields }) =>
      event(computer, `machine-${kind}`, message, { machine: id, ...fields }),
    adopt,
    launchFailed: (computer, _offer, fault) => launchFailed(computer, fault),
    launchAgreed: () => {},
    connected: (row) => ({ labels: {}, changes: connected(row) }),
    disconnected,
    leaving: ({ id }) => void link.send(id, { do: 'drain', stop: true }),
    removed: (id) => link.dismiss(id, 'This computer has been removed.'),
    poke,
  };
}
