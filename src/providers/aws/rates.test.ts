import { expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openAwsRates } from './rates.ts';

const going = new AbortController().signal;

it('the request limits leave one place free, because requests can overtake each other on the wire', async () => {
  const clock = new VirtualClock();
  const rates = openAwsRates(clock);
  const left: number[] = [];
  for (let n = 0; n < 6; n++) void rates.take('RunInstances', 0, going).then(() => left.push(clock.monotonic()));
  const startMs = clock.monotonic();

  await clock.advance(10_000);

  expect(left.map((ms) => ms - startMs)).toEqual([0, 0, 0, 0, 500, 1_000]);
});

it('a call that AWS throttled counts for none of its machines', async () => {
  const rates = openAwsRates(new VirtualClock());
  await rates.take('RunInstances', 600, going);

  rates.refused('RunInstances', 600);

  expect(rates.room('RunInstances')).toBe(300);
  rates.granted('RunInstances');
  rates.granted('RunInstances');
  expect(rates.room('RunInstances')).toBe(1_000);
});

it('each throttled call halves the machines of the next one, down to one', () => {
  const rates = openAwsRates(new VirtualClock());

  const rooms = [5, 2, 1].map((machines) => {
    rates.refused('RunInstances', machines);
    return rates.room('RunInstances');
  });

  expect(rooms).toEqual([2, 1, 1]);
});
