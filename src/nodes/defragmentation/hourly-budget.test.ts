import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { NodePoolRow } from '#core/node.ts';
import { seededRandom } from '#core/random.ts';
import { openNodesScene } from '../testing/scene.ts';
import { withoutEvictions } from './hourly-budget.ts';

describe('the budgets of the hour', () => {
  it('count an eviction that its budget refused as none', () => {
    const row: NodePoolRow = { id: 'h100', setAside: [], evictedAt: [1, 2, 3], freedAt: [] };

    expect(withoutEvictions(row, 2).evictedAt).toEqual([1]);
    expect(withoutEvictions(row, 9).evictedAt).toEqual([]);
  });

  it('hold over any hour, whatever comes and goes, and through restarts', async () => {
    const random = seededRandom(5);
    const limits = { maxNodesPerHour: 2, maxEvictionsPerHour: 3 };
    const scene = await openNodesScene();
    scene.fill(scene.cloud.addGroup('grp', 'zone-a'), 8);
    await scene.deploy('web', 8, 1);
    await scene.clock.advance(5 * SECOND_MS);
    const defragmentation = { mode: 'act', ...limits };
    await scene.define('h100', { existingInstanceGroupNames: ['grp'], minUnutilizedGPUNodes: 0, defragmentation });
    const start = scene.clock.now();
    const evictions: number[] = [];
    const freed: number[] = [];
    const isNow = (at: number): boolean => at === scene.clock.now();
    scene.store.onChange('nodePools', (after, before) => {
      const added = (times: keyof Pick<NodePoolRow, 'evictedAt' | 'freedAt'>): number[] =>
        after?.[times].filter(isNow).slice(before?.[times].filter(isNow).length ?? 0) ?? [];
      evictions.push(...added('evictedAt'));
      freed.push(...added('freedAt'));
    });
    for (let minutes = 0; minutes < 5 * 60; minutes += 10) {
      await scene.clock.advance(10 * MINUTE_MS);
      // More pods on new nodes, or fewer: what was packed is spread again.
      if (random.next() < 0.5) await scene.scaleDeployment('web', 4 + Math.floor(random.next() * 16));
      if (random.next() < 0.2) await scene.restart();
    }
    const most = (times: readonly number[]): number =>
      Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at - from < HOUR_MS).length));

    expect(scene.clock.now() - start).toBeGreaterThan(5 * HOUR_MS - MINUTE_MS);
    expect([evictions.length > 6, freed.length > 4]).toEqual([true, true]);
    expect(most(evictions)).toBeLessThanOrEqual(limits.maxEvictionsPerHour);
    expect(most(freed)).toBeLessThanOrEqual(limits.maxNodesPerHour);
    await scene.stop();
  });
});
