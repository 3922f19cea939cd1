// What machines cost by budget, in step with their rows: a decision reads it in the turn in which it is committed.
import type { Clouds } from '#clouds/clouds.ts';
import type { Budget } from '#core/budget.ts';
import type { Clock } from '#core/clock.ts';
import type { ComputerMachine } from '#core/computer.ts';
import type { EndedMachine, MachineRow } from '#core/machine.ts';
import { monthFrom } from '#core/month.ts';
import type { Pool } from '#core/pool.ts';
import type { Store } from '#core/store.ts';
import type { Worker } from '#core/worker.ts';
import { covers } from './cover.ts';
import { costIn, costOfEnded, type Meter, meterOf, type Payer } from './meter.ts';
import { advance, countIn, openTally, type Tally } from './tally.ts';

export interface CostLedgerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly clouds: Pick<Clouds, 'isFree'>;
  /** The sums of these budgets have changed otherwise than by time. */
  changed(tallies: readonly Tally[]): void;
}

export interface CostLedger {
  readonly tallies: ReadonlyMap<string, Tally>;
  /** The tallies that a payer counts in. */
  of(payer: Payer): readonly Tally[];
  /** Those with `stop` that a pool counts in. */
  stopsOf(pool: Pool): readonly Tally[];
  /** With all that has passed until now. */
  now(tally: Tally): Tally;
  meters(): Iterable<readonly [id: string, meter: Meter]>;
  /** Adds a machine of the history, once. */
  addEnded(row: EndedMachine): void;
  /** The history has been read. */
  endedKnown(): void;
  /** Counts everything anew for other budgets. */
  follow(budgets: readonly Budget[]): void;
  stop(): void;
}

export const payerOfPool = (pool: Pool | undefined): Payer => ({
  use: 'worker',
  name: pool?.name,
  source: pool?.owner.source,
});

const COMPUTER: Payer = { use: 'computer' };
const keyOf = ({ use, name = '', source = '' }: Payer): string => `${use}\n${source}\n${name}`;

interface EndedSum {
  readonly payer: Payer;
  monthMs: number;
  dollars: number;
}

export function openCostLedger({ store, clock, clouds, changed }: CostLedgerDeps): CostLedger {
  const { view } = store;
  const tallies = new Map<string, Tally>();
  const meters = new Map<string, Meter>();
  /** What was spent on machines that are no more, by payer. */
  const ended = new Map<string, EndedSum>();
  /** Machines that have ended since this began: the history may hold them already. */
  let endedHere: Set<string> | undefined = new Set();
  let monthMs = monthFrom(clock.now());
  let ofPayer = new Map<string, readonly Tally[]>();
  /** By the row: every pass of every pool asks. */
  let stopsOfPool = new WeakMap<Pool, readonly Tally[]>();

  function of(payer: Payer): readonly Tally[] {
    const key = keyOf(payer);
    const known = ofPayer.get(key) ?? [...tallies.values()].filter(({ budget }) => covers(budget, payer));
    ofPayer.set(key, known);
    return known;
  }

  /** A clock that is set back does not begin an old month again. */
  function monthNow(): number {
    monthMs = Math.max(monthMs, monthFrom(clock.now()));
    return monthMs;
  }

  function meter(row: MachineRow, payer: Payer, stated: number | undefined): Meter {
    const { offer: id = '' } = row;
    const trust = payer.source === undefined ? undefined : view.sources.get(payer.source)?.prices;
    const offer = view.offers.get(id);
    return meterOf(row, { payer, offer, stated, trust, isFree: offer !== undefined && clouds.isFree(offer.kind) });
  }

  function meterOfWorker(worker: Worker): Meter | undefined {
    if (worker.offer === undefined) return undefined;
    const pool = view.pools.get(worker.pool);
    const before = meters.get(worker.id)?.payer;
    // Its pool may be forgotten before the last of its machines.
    const payer = pool || !before ? payerOfPool(pool) : before;
    return meter(worker, payer, pool?.spec.terms?.[worker.offer]?.pricePerHour);
  }

  function put(id: string, next: Meter | undefined): void {
    const before = meters.get(id);
    const nowMs = clock.now();
    if (before) for (const tally of of(before.payer)) countIn(tally, before, nowMs, -1);
    if (next) meters.set(id, next);
    else meters.delete(id);
    if (next) for (const tally of of(next.payer)) countIn(tally, next, nowMs);
    const touched = [...(before ? of(before.payer) : []), ...(next ? of(next.payer) : [])];
    if (touched.length > 0) changed(touched);
  }

  function end(id: string): void {
    const before = meters.get(id);
    put(id, undefined);
    if (!before) return;
    endedHere?.add(id);
    if (before.isMade) spend(before.payer, (monthMs) => costIn(monthMs, clock.now(), before));
  }

  function spend(payer: Payer, cost: (monthMs: number) => number): void {
    for (const tally of of(payer)) {
      advance(tally, clock.now());
      tally.dollars += cost(tally.monthMs);
    }
    const month = monthNow();
    const key = keyOf(payer);
    const known = ended.get(key);
    const dollars = (known?.monthMs === month ? known.dollars : 0) + cost(month);
    ended.set(key, { payer, monthMs: month, dollars });
  }

  function addSum({ payer, dollars }: EndedSum): void {
    for (const tally of of(payer)) tally.dollars += dollars;
  }

  const changedRow =
    <R extends MachineRow>(meterOfRow: (row: R) => Meter | undefined) =>
    (after: R | undefined, before: R | undefined, id: string): void => {
      if (!after) end(id);
      else if (!before || isOtherMeter(after, before)) put(id, meterOfRow(after));
    };

  const meterOfComputer = (row: ComputerMachine): Meter | undefined =>
    row.offer === undefined ? undefined : meter(row, COMPUTER, undefined);

  function again(workers: Iterable<Worker>, machines: Iterable<ComputerMachine> = []): void {
    for (const worker of workers) put(worker.id, meterOfWorker(worker));
    for (const machine of machines) put(machine.id, meterOfComputer(machine));
  }

  const stops = [
    store.onChange('workers', changedRow(meterOfWorker)),
    store.onChange('computerMachines', changedRow(meterOfComputer)),
    store.onChange('offers', (after, before, id) => {
      if (after && after.prices !== before?.prices)
        again(view.workers.by('offer', id), view.computerMachines.by('offer', id));
    }),
    store.onChange('pools', (after, before, id) => {
      if (after && before && isOtherPayer(after, before)) again(view.workers.by('pool', id));
    }),
    store.onChange('sources', (after, before, id) => {
      if (after?.prices === before?.prices) return;
      for (const pool of view.pools.by('source', id)) again(view.workers.by('pool', pool.id));
    }),
  ];
  for (const worker of view.workers.all()) {
    const known = meterOfWorker(worker);
    if (known) meters.set(worker.id, known);
  }
  for (const machine of view.computerMachines.all()) {
    const known = meterOfComputer(machine);
    if (known) meters.set(machine.id, known);
  }

  return {
    tallies,
    of,
    stopsOf(pool) {
      const known = stopsOfPool.get(pool) ?? of(payerOfPool(pool)).filter(({ budget }) => budget.end === 'stop');
      stopsOfPool.set(pool, known);
      return known;
    },
    now(tally) {
      advance(tally, clock.now());
      return tally;
    },
    meters: () => meters.entries(),
    addEnded(row) {
      if (endedHere?.has(row.machine)) return;
      const { use, ownerName: name = view.pools.get(row.owner)?.name, source } = row;
      const trust = source === undefined ? undefined : view.sources.get(source)?.prices;
      spend({ use, name, source }, (monthMs) => costOfEnded(monthMs, row, trust));
    },
    endedKnown() {
      endedHere = undefined;
    },
    follow(budgets) {
      const nowMs = clock.now();
      tallies.clear();
      ofPayer = new Map();
      stopsOfPool = new WeakMap();
      for (const budget of budgets) tallies.set(budget.name, openTally(budget, nowMs, monthNow()));
      for (const known of meters.values()) for (const tally of of(known.payer)) countIn(tally, known, nowMs);
      for (const sum of ended.values()) if (sum.monthMs === monthMs) addSum(sum);
      changed([...tallies.values()]);
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/** Most changes of a row do not concern what it costs: that its agent has joined, what it runs. */
function isOtherMeter(after: MachineRow, before: MachineRow): boolean {
  return (
    after.offer !== before.offer ||
    after.askedAt !== before.askedAt ||
    after.pricePerHour !== before.pricePerHour ||
    after.createdAt !== before.createdAt ||
    after.removal?.isNotMade !== before.removal?.isNotMade ||
    after.parked?.stoppedAt !== before.parked?.stoppedAt ||
    after.ranBefore !== before.ranBefore
  );
}

function isOtherPayer(after: Pool, before: Pool): boolean {
  return (
    after.name !== before.name || after.owner.source !== before.owner.source || after.spec.terms !== before.spec.terms
  );
}
