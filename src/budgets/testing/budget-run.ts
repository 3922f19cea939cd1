// One seeded run of pools under two budgets near the end of a month, and the laws that must hold in it.
import type { Budget } from '#core/budget.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Price } from '#core/pool.ts';
import { type Random, seededRandom } from '#core/random.ts';
import { aPool, OFFER } from '#core/testing/pool.ts';
import type { SimEffect } from '#sim/backend.ts';
import type { PoolWorld } from '#sim/pool-world.ts';
import { budgetsOf, openBill, openBudgetWorld } from './budget-world.ts';

const MONTH_END = Date.UTC(2026, 1, 1);
const LISTED_EVERY_MS = MINUTE_MS;
/** Calls that are under way when a machine comes or goes. */
const CALLS_MS = 10 * SECOND_MS;
const DRIFT = 1e-6;
const WANTED = 1_000;

export interface BudgetRun {
  /** What broke; empty: nothing. */
  readonly broken: readonly string[];
  /** What happened, so that a sample can say that it has seen all of it. */
  readonly seen: {
    launched: number;
    lostReplies: number;
    refused: number;
    takeovers: number;
    priceRises: number;
    monthEnds: number;
    heldByHour: number;
    heldByMonth: number;
    spent: number;
    ended: number;
  };
}

const between = (random: Random, least: number, most: number): number => least + random.next() * (most - least);

function someBudgets(random: Random): readonly Budget[] {
  const perMonth = between(random, 15, 120);
  const perHour = between(random, 5, 80);
  const own: Budget = { name: 'own', pools: ['a*'], perHour: between(random, 3, 60), end: 'stop' };
  const kinds: readonly Budget[] = [
    { name: 'all', perHour, perMonth, end: 'stop' },
    { name: 'all', perMonth, end: 'stop' },
    { name: 'all', perHour, end: 'stop' },
  ];
  return [own, kinds[Math.floor(random.next() * kinds.length)] as Budget];
}

const POOLS = ['a1', 'a2', 'b1'];
const isUnder = ({ pools }: Budget, owner: string): boolean => pools === undefined || owner.startsWith('id-a');

export async function runBudgets(seed: number): Promise<BudgetRun> {
  const random = seededRandom(seed);
  const startMs = MONTH_END - between(random, 20, 100) * MINUTE_MS;
  const budgets = someBudgets(random);
  const broken: string[] = [];
  const seen: BudgetRun['seen'] = {
    ...{ launched: 0, lostReplies: 0, refused: 0, takeovers: 0, priceRises: 0, monthEnds: 0 },
    ...{ heldByHour: 0, heldByMonth: 0, spent: 0, ended: 0 },
  };
  let price = between(random, 0.5, 4);
  const idle = Math.floor(random.next() * 4);
  const pools = POOLS.map((name) =>
    aPool({ maxAgents: WANTED, minIdleSlots: idle, maxIdleSlots: idle + 1, idleDecayMs: MINUTE_MS }, { name }),
  );
  const cloud = { pricePerHour: () => price, bootMs: 20_000, answerMs: 200 };
  const world = await openBudgetWorld({ pools, budgets, startMs, seed, cloud });
  const bill = openBill(
    world.cloud,
    () => world.clock.now(),
    () => pricesOf(world),
  );
  world.cloud.script = ({ name, names }) => (name === 'create' ? mishapOf(random, names, seen) : undefined);
  watchLaunches(world, budgets, { broken, seen, bill });

  const sessions = POOLS.map((name) => ({ name, count: Math.floor(between(random, 1, WANTED / 2)) }));
  await Promise.all(
    sessions.map(({ name, count }) => world.life.submit(name, count, between(random, 5, 50) * MINUTE_MS)),
  );
  for (let step = 0; step < 12 && broken.length === 0; step += 1) {
    const monthBefore = new Date(world.clock.now()).getUTCMonth();
    if (random.next() < 0.12) await takeOver(world, random, { broken, seen, bill, budgets });
    if (random.next() < 0.25) {
      price *= between(random, 1.05, 1.6);
      seen.priceRises += 1;
    }
    await world.advance(between(random, 4, 25) * MINUTE_MS);
    if (new Date(world.clock.now()).getUTCMonth() !== monthBefore) seen.monthEnds += 1;
    checkLedger(world, budgets, { broken, bill });
    noteHolds(world, seen);
  }
  for (const [session, runs] of world.agents.runs) if (runs > 1) broken.push(`session ${session} ran ${runs} times`);
  for (const { id, end } of world.disk.histories.ended) {
    seen.ended += 1;
    if (end?.how !== 'exited') broken.push(`session ${id} ended ${end?.how}: its worker was taken away`);
  }
  return { broken, seen };
}

interface Watch {
  readonly broken: string[];
  readonly seen: BudgetRun['seen'];
  readonly bill: ReturnType<typeof openBill>;
}

function mishapOf(random: Random, names: readonly string[], seen: BudgetRun['seen']): SimEffect | undefined {
  const drawn = random.next();
  if (drawn < 0.15) {
    seen.lostReplies += 1;
    return { is: 'lost reply' };
  }
  if (drawn < 0.25) {
    seen.refused += 1;
    return { is: 'refused', fault: new Fault('exhausted', 'No room.') };
  }
  if (drawn > 0.35) return undefined;
  const silent = new Set(names.filter(() => random.next() < 0.3));
  return { is: 'partial', of: (name) => (silent.has(name) ? 'silent' : undefined) };
}

const pricesOf = ({ life }: PoolWorld): readonly Price[] => life.store.view.offers.get(OFFER.id)?.prices ?? [];
const priceAt = (prices: readonly Price[], atMs: number): number =>
  (prices.findLast(({ from }) => from <= atMs) ?? prices[0])?.perHour ?? 0;

/** No launch is committed that breaks a budget: by the rows themselves, and by what the cloud has billed. */
function watchLaunches(world: PoolWorld, budgets: readonly Budget[], { broken, seen, bill }: Watch): void {
  const { view } = world.life.store;
  world.life.store.onChange('workers', (after, before) => {
    if (!after || before) return;
    seen.launched += 1;
    const nowMs = world.clock.now();
    const perHourEach = priceAt(pricesOf(world), nowMs);
    for (const budget of budgets) {
      const { name, perHour = Number.POSITIVE_INFINITY, perMonth = Number.POSITIVE_INFINITY } = budget;
      const rows = [...view.workers.all()].filter(({ pool }) => isUnder(budget, pool));
      if (!isUnder(budget, after.pool)) continue;
      const sum = rows.length * perHourEach;
      if (sum > perHour + DRIFT) broken.push(`${name}: a launch makes ${sum} an hour of ${perHour}`);
      const spent = bill.dollars((owner) => isUnder(budget, owner));
      if (spent + sum > perMonth + DRIFT) broken.push(`${name}: a launch at ${spent} + ${sum} of ${perMonth}`);
    }
  });
}

/** Never below the bill, and above it by at most one listing interval a machine. */
function checkLedger(world: PoolWorld, budgets: readonly Budget[], { broken, bill }: Omit<Watch, 'seen'>): void {
  const prices = pricesOf(world);
  const dearest = Math.max(0, ...prices.map(({ perHour }) => perHour));
  for (const budget of budgets) {
    const spent = budgetsOf(world).find(budget.name)?.spent;
    const billed = bill.dollars((owner) => isUnder(budget, owner));
    if (spent === undefined) broken.push(`${budget.name}: what was spent is not known`);
    else if (spent < billed - DRIFT) broken.push(`${budget.name}: the ledger says ${spent}, the cloud ${billed}`);
    else if (spent > billed + (bill.machines() * dearest * (LISTED_EVERY_MS + CALLS_MS)) / HOUR_MS)
      broken.push(`${budget.name}: the ledger says ${spent}, the cloud only ${billed} of ${bill.machines()} machines`);
  }
}

async function takeOver(
  world: PoolWorld,
  random: Random,
  { broken, seen, bill, budgets }: Watch & { readonly budgets: readonly Budget[] },
): Promise<void> {
  seen.takeovers += 1;
  world.crash();
  await world.clock.advance(Math.floor(between(random, 1, 5) * SECOND_MS));
  await world.start();
  watchLaunches(world, budgets, { broken, seen, bill });
}

function noteHolds({ life }: PoolWorld, seen: BudgetRun['seen']): void {
  for (const { id } of life.store.view.pools.all()) {
    const { code } = life.workers.plan(id).reason;
    if (code === 'budget-hour') seen.heldByHour += 1;
    if (code === 'budget-month') seen.heldByMonth += 1;
    if (code === 'budget-spent') seen.spent += 1;
  }
}
