// One pass over a computer: observe its machine, carry out what is under way, and take the step that is due.
import type { Clouds } from '#clouds/clouds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { AgentLink } from '#core/agent-link.ts';
import type { Budgets } from '#core/budget.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { Computer, ComputerMachine } from '#core/computer.ts';
import type { BootSettings } from '#core/feature.ts';
import { idMaker } from '#core/id.ts';
import { type Actor, SELF } from '#core/journal.ts';
import type { Log } from '#core/log.ts';
import { type Again, type Loop, startLoop } from '#core/loop.ts';
import type { EndFault } from '#core/machine.ts';
import type { Random } from '#core/random.ts';
import { append, type Change, drop, put, type Store } from '#core/store.ts';
import { FLEET, isFrozen } from '#core/worker.ts';
import type { Journal } from '#journal/journal.ts';
import { askFor } from '#machines/launch.ts';
import { isLost, lookForLost, lossOf, troubleOf } from '#machines/loss.ts';
import type { Machines } from '#machines/machines.ts';
import { afterListing } from '#machines/observation.ts';
import { listedOf, type OwnedMachines } from '#machines/owned-machines.ts';
import { carryOutRemovals, removalOf } from '#machines/removal.ts';
import { resolveLaunches } from '#machines/resolve-launches.ts';
import { mayShowMore } from '#machines/restored.ts';
import { isUnderWay } from '#machines/waiting.ts';
import { computerSubject, computersAsOwner } from './machine-owner.ts';
import { type ComputerStep, nextComputerStep, type SeenMachine } from './next-computer-step.ts';
import { isPriceAwaited, refusedByBudget } from './price.ts';

export interface ComputerLoopDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly clouds: Clouds;
  readonly journal: Journal;
  readonly link: AgentLink;
  readonly machines: Machines;
  readonly boot: BootSettings;
  readonly kinds?: Pick<KnownKinds, 'backends'>;
  budgets?(): Budgets | undefined;
  /** Whether the machine answers on its own port, where no agent joins; absent: agents join. */
  isAnswering?(computer: Computer, seen: SeenMachine): boolean;
}

export interface ComputerLoop {
  readonly owned: OwnedMachines<ComputerMachine>;
  poke(computer: string): void;
  /** Its agent ends the machine by itself: it must know the new end. */
  tellEnd(computer: string): void;
  /** The machine of a computer that is not being removed, and what is known of it. */
  current(computer: Computer): SeenMachine | undefined;
  stop(): Promise<void>;
}

/** Sessions of one computer at a time: commands, terminals, and what programs start. */
const SLOTS = 64;
const LIST_WHILE_MOVING_MS = 10 * SECOND_MS;
const LIST_AT_REST_MS = 60 * SECOND_MS;

export function startComputerLoop(deps: ComputerLoopDeps): ComputerLoop {
  const { store, clock, clouds, journal, machines, boot } = deps;
  const { view } = store;
  const nextId = idMaker(() => clock.now(), deps.random);
  const owned = machines.register(computersAsOwner({ ...deps, poke: (id) => loop.poke(id) }), () => ({}));

  const machinesOf = (id: string): ComputerMachine[] => [...view.computerMachines.by('computer', id)];

  function event(id: string, kind: string, message: string, actor: Actor = SELF): Change {
    return journal.event({ kind: `computer.${kind}`, subject: computerSubject(id), message }, actor);
  }

  function see(computer: Computer, row: ComputerMachine): SeenMachine {
    const listing = clouds.listing(row.offer ?? '');
    const listed = listedOf(owned, row);
    const seen = {
      row,
      listed,
      isLost: !row.removal && isLost(row, owned.observations.of(row), listing),
      trouble: troubleOf(owned, row, listed),
    };
    const isHealthy = view.agents.get(row.id) !== undefined;
    return { ...seen, isHealthy: isHealthy || deps.isAnswering?.(computer, { ...seen, isHealthy }) === true };
  }

  const seenMachines = (computer: Computer): SeenMachine[] => machinesOf(computer.id).map((row) => see(computer, row));

  function observe(id: string): void {
    const nowMs = clock.monotonic();
    for (const row of machinesOf(id)) {
      const listing = clouds.listing(row.offer ?? '');
      const shown = { listing, machine: listedOf(owned, row), nowMs };
      owned.observations.observe(row, afterListing(owned.base, owned.observations.of(row), row, shown));
    }
  }

  function launch(computer: Computer): Change[] {
    const { id, name, offer, port, endsAt } = computer;
    const owner = { name, slots: SLOTS, port, endsAt };
    const asked = askFor(owned, {
      owner: { id, name },
      offer,
      count: 1,
      agentConfig: boot.agentConfig(owner),
      install: boot.install(),
      port,
      endsAt,
      event: ({ names }) => event(id, 'asked', `Starting: machine ${names.join(', ')} was asked for.`),
    });
    return [...asked, put('computers', { ...computer, refused: undefined })];
  }

  function failed(computer: Computer, fault: EndFault): Change[] {
    const failure = { ...fault, at: clock.now() };
    return [put('computers', { ...computer, failure }), event(computer.id, 'failed', fault.message)];
  }

  function expired(computer: Computer): Change[] {
    const why = 'Its time to live is over.';
    const removal = { at: clock.now(), by: SELF.who, why };
    return [put('computers', { ...computer, removal }), event(computer.id, 'expired', why)];
  }

  function forgotten(computer: Computer): Change[] {
    const { id, name, platform, createdAt, by, token, runningAt, failure, removal } = computer;
    const ended = { endedAt: clock.now(), endedBy: removal?.by ?? SELF.who, why: removal?.why ?? '' };
    const history = { id: nextId(), computer: id, name, platform, createdAt, by, token, runningAt, failure, ...ended };
    return [drop('computers', id), append('endedComputers', history), event(id, 'stopped', 'It is gone.')];
  }

  /** What the step commits; nothing where it only waits. */
  function changesOf(computer: Computer, step: ComputerStep): Change[] {
    switch (step.do) {
      case 'launch':
        return launch(computer);
      case 'run':
        return [
          put('computers', { ...computer, runningAt: clock.now(), refused: undefined }),
          event(computer.id, 'running', 'It is running.'),
        ];
      case 'remove machine':
        return removalOf(owned, step.machine, step.why, step.fault ? { fault: step.fault } : {});
      case 'take loss':
        return [
          ...lossOf(owned, step.machine),
          ...failed(computer, { kind: 'unavailable', message: 'Its machine is gone from the platform.' }),
        ];
      case 'refuse':
        return removalOf(owned, step.machine, step.fault.message, { fault: step.fault });
      case 'fail':
        return failed(computer, step.fault);
      case 'expire':
        return expired(computer);
      case 'forget':
        return forgotten(computer);
      case 'wait':
        return [];
    }
  }

  /** Listings wake a computer whose machine is on its way; others only if their machine changes. */
  function waitForListing(computer: Computer): void {
    const isAtRest = computer.runningAt !== undefined && !computer.removal && !computer.failure;
    clouds.follow(computer.id, [computer.offer], isAtRest ? LIST_AT_REST_MS : LIST_WHILE_MOVING_MS);
    const machines = machinesOf(computer.id);
    const isShown = machines.length > 0 && machines.every((row) => isUnderWay(listedOf(owned, row)));
    owned.waiting.add(computer.id, isAtRest && isShown ? machines : undefined);
    for (const row of machines) if (!view.agents.get(row.id)) lookForLost(owned, row);
  }

  /** Calls that are under way; answers when to look again, on the monotonic clock. */
  function goOn(id: string): number {
    const removing = machinesOf(id).filter(({ removal }) => removal);
    return Math.min(resolveLaunches(owned, id), carryOutRemovals(owned, removing));
  }

  function decide(computer: Computer, now: number): ComputerStep {
    const isLaunching = view.launches.count('owner', computer.id) > 0;
    const { offer } = computer;
    const isOpening = clouds.cloudOf(offer.id) === undefined && clouds.fault(offer.id) === undefined;
    return nextComputerStep({
      ...{ computer, machines: seenMachines(computer), isLaunching, now },
      mayShowMore: mayShowMore(owned.base, [offer]),
      isOpening: isOpening || isPriceAwaited(deps, computer),
    });
  }

  function pass(id: string): Again | undefined {
    if (!view.computers.get(id)) return over(id);
    observe(id);
    if (isFrozen(store, id)) return undefined;
    const againMs = goOn(id);
    const computer = view.computers.get(id);
    if (!computer) return over(id);
    const now = clock.now();
    const step = decide(computer, now);
    // First the refusal is counted: with the end of the machine a next launch may be due.
    if (step.do === 'refuse') owned.launchFailed(id, computer.offer.id, step.fault);
    const tooDear = step.do === 'launch' ? refusedByBudget(deps, computer.offer, 'at launch') : undefined;
    if (tooDear) return void owned.launchFailed(id, computer.offer.id, tooDear);
    const changes = changesOf(view.computers.get(id) ?? computer, step);
    waitForListing(computer);
    if (changes.length > 0) return void owned.base.commit(changes, () => loop.poke(id));
    return lookAgain(step, now, againMs);
  }

  function lookAgain(step: ComputerStep, now: number, againMs: number): Again | undefined {
    const untilMs = step.do === 'wait' ? (step.until ?? Number.POSITIVE_INFINITY) - now : 0;
    const afterMs = Math.min(untilMs, againMs - clock.monotonic());
    return afterMs === Number.POSITIVE_INFINITY ? undefined : { afterMs: Math.max(0, Math.ceil(afterMs)) };
  }

  /** At every join: the agent may have missed that its end was moved. */
  function tellEnd(id: string): void {
    void store.durable().then(
      () => {
        const computer = view.computers.get(id);
        for (const { id: machine } of machinesOf(id))
          if (computer && view.agents.get(machine)?.movesEnd)
            deps.link.send(machine, { do: 'end at', at: computer.endsAt });
      },
      () => {},
    );
  }

  function over(id: string): undefined {
    clouds.follow(id, [], LIST_AT_REST_MS);
    owned.waiting.delete(id);
    owned.base.ownerGone(id);
    loop.forget(id);
  }

  const loop: Loop = startLoop({
    ...deps,
    name: 'computers',
    reconcile: pass,
    logged: (id) => ({ computer: view.computers.get(id)?.name ?? id }),
  });
  const subscriptions = [
    store.onChange('computers', (_after, _before, id) => loop.poke(id)),
    store.onChange('computerMachines', (after, before) => {
      const row = after ?? before;
      if (!row) return;
      if (!after) owned.forget(row.id, row);
      loop.poke(row.computer);
    }),
    store.onChange('agents', (after, before) => {
      const agent = after ?? before;
      if (agent?.use !== 'computer') return;
      loop.poke(agent.owner);
      if (after && after.epoch !== before?.epoch) tellEnd(agent.owner);
    }),
    store.onChange('freezes', (after, _before, id) => {
      if (!after && id === FLEET) for (const computer of view.computers.all()) loop.poke(computer.id);
    }),
  ];
  clouds.onPrice((offer) => {
    for (const { id } of view.computers.by('offer', offer)) loop.poke(id);
  });
  clouds.onOpen((_offer, followers) => {
    for (const id of followers) if (view.computers.get(id)) loop.poke(id);
  });
  for (const { id, offer } of view.computers.all()) {
    clouds.follow(id, [offer], LIST_WHILE_MOVING_MS);
    owned.waiting.add(id);
    loop.poke(id);
  }

  return {
    owned,
    poke: loop.poke,
    tellEnd,
    current: (computer) => seenMachines(computer).find(({ row }) => !row.removal),
    async stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
      await loop.stop();
    },
  };
}
