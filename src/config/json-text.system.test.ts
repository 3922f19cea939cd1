import { expect, it } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { openJsonReader } from './json-text.ts';

const list = (length: number): string => JSON.stringify(Array.from({ length }, () => 'a'));

it.each([
  ['a short text', 100],
  ['a long text', 200_000],
])('%s is read whole up to its limit of values, and refused beyond', async (_, length) => {
  const reader = openJsonReader(systemClock);

  expect(await reader.read(list(length), length + 1)).toHaveLength(length);
  await expect((async () => reader.read(list(length), length))()).rejects.toMatchObject({
    kind: 'invalid',
    message: `The body has more than ${length} values.`,
  });
});

it('long JSON is parsed beside the event loop, and its faults are reported', async () => {
  const reader = openJsonReader(systemClock);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);

  await expect((async () => reader.read('['.repeat(2 ** 20), 10))()).rejects.toMatchObject({ kind: 'invalid' });
  clearInterval(timer);

  expect(turns).toBeGreaterThan(5);
});
