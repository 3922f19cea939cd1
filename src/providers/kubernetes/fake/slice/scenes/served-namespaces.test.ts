import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { ONE_OR_ALL } from '../testing.ts';
import { openKubeWorld, withBusyPool } from './testing.ts';

const ALL = { place: 'other' } as const;
const ONE = { place: 'pools' } as const;

it.each([
  ['all namespaces to one', ALL, ONE, false],
  ['one namespace to all', ONE, ALL, false],
  ['all namespaces to one, with a restart', ALL, ONE, true],
  ['one namespace to all, with a restart', ONE, ALL, true],
])('a server that goes over from %s replaces no pods', async (_, before, after, isRestarted) => {
  const world = await openKubeWorld(ONE_OR_ALL, [before]);
  await withBusyPool(world, HOUR_MS);
  const pods = world.pods('gpu');
  world.calls([]);

  await world.setSources([after]);
  if (isRestarted) world.restart();
  await world.clock.advance(10 * MINUTE_MS);

  expect(pods).toHaveLength(2);
  expect(world.pods('gpu')).toEqual(pods);
  expect(world.calls(['create', 'delete']).filter((call) => call.includes(' pods '))).toEqual([]);
  expect(world.condition('gpu', 'Ready')).toContain('True');
});
