import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { VirtualClock } from '../virtual-clock.ts';
import { openUntil, until } from './until.ts';

it('does not wait for a program that is not installed', async () => {
  let looks = 0;
  const waiting = until('its answer', () => {
    looks += 1;
    return execFileSync('no-such-program-of-muster');
  });

  await expect(waiting).rejects.toThrow('ENOENT');
  expect(looks).toBe(1);
});

it('waits for minutes, but only for seconds once a wait has run out: a run of many failing tests ends', async () => {
  const clock = new VirtualClock();
  const wait = openUntil(clock);
  const waitInVain = async (): Promise<number> => {
    const startedMs = clock.monotonic();
    let isOver = false;
    const waiting = wait('what never comes', () => false).finally(() => (isOver = true));
    waiting.catch(() => {});
    while (!isOver) await clock.advance(1_000);
    await expect(waiting).rejects.toThrow('what never comes');
    return clock.monotonic() - startedMs;
  };

  expect(await waitInVain()).toBeGreaterThanOrEqual(240_000);
  expect(await waitInVain()).toBeLessThanOrEqual(12_000);
});
