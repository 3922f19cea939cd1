import { expect, it } from 'vitest';
import { countedPrice, countedPrices, dollarsBetween, priceAt } from './machine-price.ts';

const HOUR = 3_600_000;

it.each([
  ['the operator is believed', { stated: 1, listed: 4, trust: 'stated' as const }, 1],
  ['without a stated price that of the cloud counts', { stated: undefined, listed: 4, trust: 'stated' as const }, 4],
  ['of others the higher one counts', { stated: 1, listed: 4, trust: undefined }, 4],
  ['of others a price above that of the cloud counts', { stated: 9, listed: 4, trust: undefined }, 9],
  ['of others a price without one of the cloud is none', { stated: 1, listed: undefined, trust: undefined }, undefined],
  [
    'it counts where the operator allows it',
    { stated: 1, listed: undefined, trust: 'where the cloud has none' as const },
    1,
  ],
])('%s', (_what, known, counted) => {
  expect(countedPrice(known)).toBe(counted);
});

it('closes the stretch of a price when the next one begins', () => {
  const listed = [
    { from: 0, perHour: 2 },
    { from: 3 * HOUR, perHour: 5 },
  ];
  const prices = countedPrices({ askedAt: HOUR, perHour: 2, stated: undefined, listed, trust: undefined });

  expect(dollarsBetween(prices, HOUR, 5 * HOUR)).toBe(2 * 2 + 2 * 5);
  expect([priceAt(prices, 2 * HOUR), priceAt(prices, 3 * HOUR)]).toEqual([2, 5]);
});

it('takes the higher one of each stretch where a document of others states a price', () => {
  const listed = [
    { from: 0, perHour: 2 },
    { from: 3 * HOUR, perHour: 5 },
  ];
  const machine = { askedAt: HOUR, perHour: 3, stated: 3, listed };

  expect(countedPrices({ ...machine, trust: undefined }).map(({ perHour }) => perHour)).toEqual([3, 5]);
  expect(countedPrices({ ...machine, trust: 'stated' })).toEqual([{ from: HOUR, perHour: 3 }]);
});
