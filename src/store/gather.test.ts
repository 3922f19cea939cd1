import { describe, expect, test } from 'vitest';
import { VirtualClock } from '#core/virtual-clock.ts';
import { openGather } from './gather.ts';

interface Beginning {
  readonly rows: number;
  readonly left?: number;
  readonly waiting: number;
  /** How long after their answers callers came again until now. */
  readonly cameAgainMs?: number;
}

/** A transaction that is to begin, and whether it has; `waiting`: rows by now, of which `left` came before the last ended. */
async function beginning({ rows, left = 0, waiting, cameAgainMs }: Beginning) {
  const clock = new VirtualClock();
  const gather = openGather(clock);
  if (cameAgainMs !== undefined) for (let n = 0; n < 100; n++) gather.cameAgain(cameAgainMs);
  let hasBegun = false;
  gather.waiting(waiting);
  void gather.begin({ rows, waiting: left }).then(() => {
    hasBegun = true;
  });
  await clock.settle();
  return { clock, gather, hasBegun: () => hasBegun };
}

describe('a transaction', () => {
  test('begins at once where the last one was small: a lone caller waits for nobody', async () => {
    const { hasBegun } = await beginning({ rows: 2, waiting: 1 });

    expect(hasBegun()).toBe(true);
  });

  test('begins at once where all whom the last one answered have come again', async () => {
    const { hasBegun } = await beginning({ rows: 20, left: 4, waiting: 24 });

    expect(hasBegun()).toBe(true);
  });

  test('waits for those whom the last one answered, until they have come again, however many others wait', async () => {
    const { clock, gather, hasBegun } = await beginning({ rows: 20, left: 30, waiting: 30 });
    gather.waiting(49);
    await clock.settle();
    const hadBegun = hasBegun();

    gather.waiting(50);
    gather.waiting(51);
    await clock.settle();

    expect([hadBegun, hasBegun()]).toEqual([false, true]);
  });

  test('does not wait longer than a millisecond for those who do not come', async () => {
    const { clock, hasBegun } = await beginning({ rows: 20, waiting: 3 });
    const hadBegun = hasBegun();

    await clock.advance(1);

    expect([hadBegun, hasBegun()]).toEqual([false, true]);
  });

  test('waits longer while callers who come again at once are coming', async () => {
    const { clock, gather, hasBegun } = await beginning({ rows: 20, waiting: 3, cameAgainMs: 2 });
    const seen: boolean[] = [];
    for (const count of [4, 5, 5]) {
      gather.waiting(count);
      await clock.advance(1);
      seen.push(hasBegun());
    }

    expect(seen).toEqual([false, false, true]);
  });

  test.each([
    ['are enough', { each: 100, cameAgainMs: 2, turns: 1 }],
    ['come at their own pace', { each: 1, cameAgainMs: 30, turns: 1 }],
    ['have come for six milliseconds', { each: 1, cameAgainMs: 2, turns: 6 }],
  ])('begins though more are coming, where they %s', async (_why, { each, cameAgainMs, turns }) => {
    const { clock, gather, hasBegun } = await beginning({ rows: 900, waiting: 3, cameAgainMs });
    let turn = 0;
    for (; turn < 20 && !hasBegun(); turn++) {
      gather.waiting(3 + (turn + 1) * each);
      await clock.advance(1);
    }

    expect(turn).toBe(turns);
  });
});
