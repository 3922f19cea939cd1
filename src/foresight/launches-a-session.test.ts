import { expect, it } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { someScaling } from '#core/testing/pool.ts';
import { launchesASession } from './launches-a-session.ts';

it('expects a launch for each session where nothing may idle above min_idle, and far fewer with room for two more', () => {
  const limits = { maxAgents: 20, minIdleSlots: 2, idleDecayMs: 60 * MINUTE_MS };

  expect(launchesASession(someScaling({ ...limits, maxIdleSlots: 2 }))).toBeGreaterThan(0.9);
  expect(launchesASession(someScaling({ ...limits, maxIdleSlots: 4 }))).toBeLessThan(0.4);
});
