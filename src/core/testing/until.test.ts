import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { until } from './until.ts';

it('does not wait for a program that is not installed', async () => {
  let looks = 0;
  const waiting = until('its answer', () => {
    looks += 1;
    return execFileSync('no-such-program-of-muster');
  });

  await expect(waiting).rejects.toThrow('ENOENT');
  expect(looks).toBe(1);
});
