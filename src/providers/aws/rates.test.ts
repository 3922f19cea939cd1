import { expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openAwsRates } from './rates.ts';

const going = new AbortController().signal;

it('leave one place free, for requests that overtake each other on their way', async () => {
  const clock = new VirtualClock();
  const rates = openAwsRates(clock);
  const left: number[] = [];
  for (let n = 0; n < 6; n++) void rates.take('RunInstances', 0, going).then(() => left.push(clock.monotonic()));
  const startMs = clock.monotonic();

  await clock.advance(10_000);

  expect(left.map((ms) => ms - startMs)).toEqual([0, 0, 0, 0, 500, 1_000]);
});

it('count no machines for a call that was refused', async () => {
  const rates = openAwsRates(new VirtualClock());
  await rates.take('RunInstances', 600, going);

  rates.refused('RunInstances', 600);

  expect(rates.room('RunInstances')).toBe(300);
  rates.granted('RunInstances');
  rates.granted('RunInstances');
  expect(rates.room('RunInstances')).toBe(1_000);
});

it('ask for half after each refusal, and at least for one', () => {
  const rates = openAwsRates(new VirtualClock());

  const rooms = [5, 2, 1].map((machines) => {
    rates.refused('RunInstances', machines);
    return rates.room('RunInstances');
  });

  expect(rooms).toEqual([2, 1, 1]);
});
