import { expect, it } from 'vitest';
import { NO_VALUES, openMinuteRings } from './minute-rings.ts';

const values = (n: number) => ({ queued: n, busy: n + 1, idle: n + 2, starting: n + 3, wanted: n + 4, dollars: n / 4 });

it('a ring reads what was written, and between that what was written before', () => {
  const rings = openMinuteRings();
  rings.write('a', 3, values(70_000));
  rings.write('a', 59, values(1));

  expect([2, 3, 58, 59].map((minute) => rings.read('a', minute))).toEqual([
    NO_VALUES,
    values(70_000),
    values(70_000),
    values(1),
  ]);
  expect(rings.read('b', 59)).toEqual(NO_VALUES);
});

it('a thousand rings do not touch each other, and one that was dropped leaves nothing to the next', () => {
  const rings = openMinuteRings();
  for (let n = 0; n < 1_000; n += 1) rings.write(`p${n}`, n % 60, values(n));
  for (let n = 0; n < 1_000; n += 2) rings.drop(`p${n}`);
  for (let n = 0; n < 500; n += 1) rings.write(`q${n}`, 30, values(n));

  for (let n = 1; n < 1_000; n += 2) expect(rings.read(`p${n}`, 59)).toEqual(values(n));
  for (let n = 0; n < 500; n += 1)
    expect([rings.read(`q${n}`, 29), rings.read(`q${n}`, 30)]).toEqual([NO_VALUES, values(n)]);
  expect([...rings.ids]).toHaveLength(1_000);
});

it('a count beyond what a ring can hold is the largest that it can, and one below zero is zero', () => {
  const rings = openMinuteRings();

  rings.write('a', 0, { ...values(2 ** 24), queued: -1 });

  expect(rings.read('a', 0)).toMatchObject({ queued: 0, busy: 2 ** 24 - 1 });
});
