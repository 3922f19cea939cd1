import { describe, expect, it } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { dueOf, followLate } from './follow-late.ts';

const PACE = { soonestMs: 1_000, latestMs: 10_000, most: 2 };

describe('operations are looked at', () => {
  it.each([
    ['not at once', 0, Number.NEGATIVE_INFINITY, 999, 0],
    ['soon', 0, Number.NEGATIVE_INFINITY, 1_000, 1],
    ['again soon while they are young', 0, 1_000, 2_000, 1],
    ['ever less often', 0, 20_000, 24_000, 0],
    ['and never less often than that', 0, 90_000, 100_000, 1],
  ])('%s', (_when, atMs, checkedMs, nowMs, count) => {
    expect(dueOf([{ atMs, checkedMs }], nowMs, PACE)).toHaveLength(count);
  });

  it('a few at a time, those first that were not looked at for longest', () => {
    const all = [5_000, 3_000, 4_000].map((checkedMs) => ({ atMs: 0, checkedMs }));

    expect(dueOf(all, 60_000, PACE).map(({ checkedMs }) => checkedMs)).toEqual([3_000, 4_000]);
  });
});

it('looks while there is something to follow, hints at what is over, and ends with its signal', async () => {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const seen = { open: 0, looks: 0, hints: 0 };
  const begun = followLate({
    clock,
    signal: stopping.signal,
    everyMs: 1_000,
    isNeeded: () => seen.open > 0,
    async look() {
      seen.looks += 1;
      if (seen.looks === 1) throw new Error('The cloud is away.');
      return seen.looks === 3 ? seen.open-- : 0;
    },
    changed() {
      seen.hints += 1;
    },
  });
  await clock.advance(10_000);
  const before = { ...seen };
  seen.open = 1;
  begun();
  await clock.advance(10_000);
  const after = { ...seen };
  seen.open = 1;
  begun();
  stopping.abort();
  await clock.advance(10_000);

  expect(before).toEqual({ open: 0, looks: 0, hints: 0 });
  expect(after).toEqual({ open: 0, looks: 3, hints: 1 });
  expect(seen.looks).toBe(3);
});
