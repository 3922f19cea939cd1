import type { Store } from './store.ts';

/** Prices are decimal fractions: in whole billionths ten times 0.1 is 1. */
export const nanoPrice = (pricePerHour: number): number => Math.round(pricePerHour * 1e9);

/** What machines cost an hour, as far as it is known. */
export interface PriceSum {
  priceNano: number;
  /** Machines whose price is not known. */
  unpriced: number;
}

interface Machine {
  readonly offer?: string | undefined;
  readonly parked?: object | undefined;
  readonly pricePerHour?: number | undefined;
}

/** Whether a machine costs: one that came by itself is not ours to pay; a stopped one costs next to nothing. */
export const isPaid = ({ offer, parked }: Machine): boolean => offer !== undefined && !parked;

/** The price of a machine as its pool said when it was asked for, else as its cloud says now. */
export const perHourOf = ({ view }: Pick<Store, 'view'>, { offer, pricePerHour }: Machine): number | undefined =>
  pricePerHour ?? view.offers.get(offer ?? '')?.prices?.at(-1)?.perHour;

/** Adds a machine that costs, or with -1 takes it out again. */
export function addPerHour(sum: PriceSum, perHour: number | undefined, sign: 1 | -1 = 1): void {
  if (perHour === undefined) sum.unpriced += sign;
  else sum.priceNano += sign * nanoPrice(perHour);
}

/** Adds what the machines of these rows cost. */
export function addPrices(store: Pick<Store, 'view'>, sum: PriceSum, machines: Iterable<Machine>): void {
  for (const machine of machines) if (isPaid(machine)) addPerHour(sum, perHourOf(store, machine));
}
