// The whole of what `npm test` has a sample of.
import { expect, it } from 'vitest';
import { freedOfAll } from '../../src/nodes/testing/freeable.ts';

it('over 1,000 random clusters of up to ten nodes the planner frees at least 97 percent of what is possible', () => {
  const { freed, possible } = freedOfAll(1_000);

  expect(possible).toBeGreaterThan(1_500);
  expect(freed / possible).toBeGreaterThanOrEqual(0.97);
});
