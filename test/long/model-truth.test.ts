import { expect, it } from 'vitest';
import {
  type Compared,
  compareWithModel,
  costsAlike,
  recordDay,
  waitsAlike,
} from '../../src/sim/testing/recorded-day.ts';

it('the model is true to ten simulated days of eight pools: launches and dollars of each, waits of nine in ten', async () => {
  const compared: Compared[] = [];
  for (let seed = 1; seed <= 10; seed += 1)
    compared.push(...(await compareWithModel(await recordDay(seed, { pools: 8 }))));

  expect(compared).toHaveLength(80);
  expect(compared.filter((one) => !costsAlike(one))).toEqual([]);
  expect(compared.filter(waitsAlike).length).toBeGreaterThanOrEqual(72);
});
