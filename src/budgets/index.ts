import type { Clouds } from '#clouds/clouds.ts';
import type { Budget, BudgetRoom, BudgetState, Budgets } from '#core/budget.ts';
import { Fault } from '#core/fault.ts';
import type { Feature, FeatureBase } from '#core/feature.ts';
import type { Pool } from '#core/pool.ts';
import type { Journal } from '#journal/journal.ts';
import { covers } from './cover.ts';
import { countEnded } from './history.ts';
import { type CostLedger, openCostLedger, payerOfPool } from './ledger.ts';
import { openNotices } from './notices.ts';
import { fits, roomOf } from './room.ts';
import { budgetsSection } from './section.ts';
import { stateOf } from './state.ts';
import type { Tally } from './tally.ts';
import { openBudgetTurns } from './turns.ts';

type Base = FeatureBase<readonly Budget[]> & { readonly journal: Journal; readonly clouds: Clouds };

/** What runs while there are budgets. */
interface Counting {
  readonly ledger: CostLedger;
  isCounted: boolean;
  follow(budgets: readonly Budget[]): void;
  stop(): void;
}

const COMPUTER = { use: 'computer' } as const;

const feature: Feature<readonly Budget[], Budgets, Base> = {
  id: 'budgets',
  section: { key: 'budgets', schema: budgetsSection },
  start(base) {
    const { store, clock, log, journal, clouds } = base;
    const heards: Parameters<Budgets['onTurn']>[0][] = [];
    let counting: Counting | undefined;
    let followed = '';

    function turned({ budget }: Tally, turn: 'room' | 'spent'): void {
      const under = Iterator.from(store.view.pools.all()).filter((pool) => covers(budget, payerOfPool(pool)));
      const pools = under.map(({ id }) => id).toArray();
      for (const heard of heards) heard(pools, turn);
    }

    function startCounting(): Counting {
      const stopping = new AbortController();
      const turns = openBudgetTurns({
        store,
        clock,
        ledger: () => ledger,
        notices: openNotices(store, journal),
        turned,
      });
      const ledger = openCostLedger({ store, clock, clouds, changed: turns.touch });
      const started: Counting = {
        ledger,
        isCounted: false,
        follow(budgets) {
          ledger.follow(budgets);
          turns.released();
        },
        stop() {
          stopping.abort();
          turns.stop();
          ledger.stop();
        },
      };
      void countEnded({ store, clock, log, stopping: stopping.signal }, ledger).then(() => {
        if (stopping.signal.aborted) return;
        started.isCounted = true;
        ledger.endedKnown();
        turns.released();
      });
      return started;
    }

    function follow(budgets: readonly Budget[]): void {
      const next = JSON.stringify(budgets);
      if (next === followed) return;
      followed = next;
      if (budgets.length === 0) {
        counting?.stop();
        counting = undefined;
        return;
      }
      counting ??= startCounting();
      counting.follow(budgets);
    }

    const roomsOf = ({ ledger, isCounted }: Counting, tallies: readonly Tally[]): BudgetRoom[] =>
      tallies.map((tally) => roomOf(ledger.now(tally), isCounted));

    function roomsOfComputers(): BudgetRoom[] {
      if (!counting) return [];
      const stops = counting.ledger.of(COMPUTER).filter(({ budget }) => budget.end === 'stop');
      return roomsOf(counting, stops);
    }

    const show = ({ ledger, isCounted }: Counting, tally: Tally): BudgetState =>
      stateOf({ store, clouds, ledger, isCounted }, ledger.now(tally));

    follow(base.settings);
    return {
      list: () =>
        counting ? [...counting.ledger.tallies.values()].map((tally) => show(counting as Counting, tally)) : [],
      find(name) {
        const tally = counting?.ledger.tallies.get(name);
        return counting && tally && show(counting, tally);
      },
      roomFor(pool: Pool) {
        if (!counting) return undefined;
        const stops = counting.ledger.stopsOf(pool);
        return stops.length === 0 ? undefined : roomsOf(counting, stops);
      },
      coversComputers: () => roomsOfComputers().length > 0,
      refusesComputer(price) {
        const rooms = roomsOfComputers();
        const [first] = rooms;
        if (!first || price === 0) return undefined;
        if (price === undefined) return unpriced(first);
        const short = rooms.find((room) => !fits(room, price));
        return short && exceeded(short, price);
      },
      onTurn: (heard) => void heards.push(heard),
      configure: follow,
      async stop() {
        counting?.stop();
      },
    };
  },
};

const unpriced = ({ name }: BudgetRoom): Fault =>
  new Fault('quota', `Budget ${name} launches nothing whose price is not known.`, {
    remedy: 'Choose a backend whose cloud tells prices, or let the budget name the pools that it covers.',
  });

function exceeded({ name, perHour, hourLeft = 0, perMonth }: BudgetRoom, price: number): Fault {
  const isHour = perHour !== undefined && hourLeft < price;
  const limit = isHour ? `per_hour ${perHour}` : `per_month ${perMonth}`;
  return new Fault('quota', `A machine of $${price} an hour would exceed ${limit} of budget ${name}.`, {
    remedy: `See \`muster budget show ${name}\`: remove a machine under it, or raise it in the server's file.`,
  });
}

export default feature;
