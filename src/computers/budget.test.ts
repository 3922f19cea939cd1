import { expect, it } from 'vitest';
import type { Budget } from '#core/budget.ts';
import { MINUTE_MS } from '#core/clock.ts';
import type { AnyFeature } from '#program/features.ts';
import { simKind } from '#sim/backend.ts';
import budgets from '../budgets/index.ts';
import computers from './index.ts';
import { type ComputerWorld, openComputerWorld } from './testing/world.ts';

const section = { templates: {}, maxTtl: 1e9, defaultTtl: 1e8, allowNoTtl: false, maxPerToken: 20 };

/** A cloud whose machines cost 4 an hour, or that tells no price. */
function withBudget(budget: Partial<Budget>, hasPrices = true): Promise<ComputerWorld> {
  const features = [budgets, computers] as unknown as AnyFeature[];
  const sections = { computers: section, budgets: [{ name: 'all', end: 'stop', ...budget }] };
  return openComputerWorld({
    cloud: hasPrices ? { pricePerHour: () => 4 } : {},
    kinds: (cloud, isAlive) => ({ sim: { ...simKind(cloud, isAlive), ...(hasPrices && { hasPrices: true }) } }),
    parts: { features, sections },
  });
}

it('a computer that would exceed a budget is refused when it is created', async () => {
  const world = await withBudget({ perHour: 9 });
  await world.create('one');
  await world.create('two');
  await world.advance(2 * MINUTE_MS);
  expect([world.statusOf('one'), world.statusOf('two')]).toEqual(['running', 'running']);

  await expect(world.create('three')).rejects.toMatchObject({
    kind: 'quota',
    message: 'A machine of $4 an hour would exceed per_hour 9 of budget all.',
  });
  expect(world.made()).toHaveLength(2);
});

it('of computers that are created together only those are launched that the budget has room for', async () => {
  const world = await withBudget({ perHour: 9 });
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => world.create(name)));
  await world.advance(5 * MINUTE_MS);

  const statuses = ['a', 'b', 'c', 'd'].map((name) => world.statusOf(name)).toSorted();
  expect(statuses).toEqual(['error', 'error', 'running', 'running']);
  expect(world.made()).toHaveLength(2);
  expect(world.life.features.public.budgets?.find('all')).toMatchObject({
    computers: 4,
    machines: 2,
    dollarsPerHour: 8,
  });
});

it('a computer of a cloud without prices is refused under a budget, and not under one that names pools', async () => {
  const strict = await withBudget({ perHour: 9 }, false);
  await expect(strict.create('one')).rejects.toMatchObject({
    message: 'Budget all launches nothing whose price is not known.',
  });

  const ofPools = await withBudget({ perHour: 9, pools: ['ml-*'] }, false);
  await ofPools.create('one');
  await ofPools.advance(2 * MINUTE_MS);
  expect(ofPools.statusOf('one')).toBe('running');
});
