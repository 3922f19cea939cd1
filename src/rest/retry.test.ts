import { describe, expect, it } from 'vitest';
import { Fault } from '#core/fault.ts';
import { going } from '#core/testing/going.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import { finished, inPages, type Progress } from './retry.ts';

describe('pages', () => {
  it('are read to the last, also past an empty one, and one that fails for a moment is read again', async () => {
    const clock = new VirtualClock();
    const asked: (string | undefined)[] = [];
    const reading = inPages(clock, going(), async (token) => {
      asked.push(token);
      if (asked.length === 2) throw new Fault('throttled', 'Slow down.', { retryAfterMs: 7_000 });
      return token === undefined ? 'a' : token === 'a' ? 'b' : '';
    });
    const startMs = clock.monotonic();
    await clock.advance(7_000);
    await reading;

    expect(asked).toEqual([undefined, 'a', 'a', 'b']);
    expect(clock.monotonic() - startMs).toBe(7_000);
  });

  it('that never end, or are refused, are a fault', async () => {
    const clock = new VirtualClock();

    await expect(inPages(clock, going(), async () => 'same')).rejects.toMatchObject({ kind: 'unavailable' });
    const denied = async (): Promise<string> => {
      throw new Fault('denied', 'No.');
    };
    await expect(inPages(clock, going(), denied)).rejects.toMatchObject({ kind: 'denied' });
  });
});

describe('a long-running operation', () => {
  async function follow(steps: readonly Progress<string>[], passMs: number, signal = going()) {
    const clock = new VirtualClock();
    const looks: number[] = [];
    const startMs = clock.monotonic();
    const options = { clock, signal, what: 'The creation of m-1', withinMs: 60_000 };
    const outcome = finished(options, async () => {
      looks.push(clock.monotonic() - startMs);
      return steps[Math.min(looks.length, steps.length) - 1] as Progress<string>;
    }).catch((thrown: unknown) => thrown);
    await clock.advance(passMs);
    return { looks, outcome: await outcome };
  }

  it('is looked at as often as the cloud asks, until it is done', async () => {
    const { looks, outcome } = await follow([{}, { retryAfterMs: 10_000 }, { done: 'id-1' }], 60_000);

    expect(looks).toEqual([0, 2_000, 12_000]);
    expect(outcome).toBe('id-1');
  });

  it('that takes too long ends in an unclear fault', async () => {
    const { outcome } = await follow([{}], 120_000);

    expect(outcome).toMatchObject({ kind: 'unavailable', message: 'The creation of m-1 is not done after 60 s.' });
  });
});
