import { expect, it } from 'vitest';
import { compareWithModel, costsAlike, recordDay, waitsAlike } from './testing/recorded-day.ts';

it('the model of a simulated day, fed with its records, launches, costs and keeps waiting as the day did', async () => {
  const compared = await compareWithModel(await recordDay(1, { pools: 3 }));

  expect(compared).toHaveLength(3);
  for (const one of compared) expect(one.truth.sessions).toBeGreaterThan(300);
  expect(compared.map(({ truth }) => truth.sessions)).toEqual(compared.map(({ model }) => model.sessions));
  expect(compared.filter((one) => !costsAlike(one))).toEqual([]);
  expect(compared.filter((one) => !waitsAlike(one))).toEqual([]);
});
