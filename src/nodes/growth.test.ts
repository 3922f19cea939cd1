import { describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { GroupBackoff } from '#core/node.ts';
import { nextBackoff } from './growth.ts';
import { openNodesScene } from './testing/scene.ts';

describe('the back-off of a group', () => {
  it('doubles from 5 to 30 minutes, failure by failure', () => {
    let backoff: GroupBackoff | undefined;
    const waits: number[] = [];
    for (let failures = 0; failures < 5; failures++) {
      const now: number = backoff?.until ?? 0;
      backoff = nextBackoff(backoff, 'no capacity', now);
      waits.push((backoff.until - now) / MINUTE_MS);
    }

    expect(waits).toEqual([5, 10, 20, 30, 30]);
  });

  it('is not made longer by what fails while it lasts', () => {
    const first = nextBackoff(undefined, 'no capacity', 0);

    expect(nextBackoff(first, 'no quota', MINUTE_MS)).toMatchObject({ until: first.until, why: 'no quota' });
  });

  it('begins anew three hours after the last failure', () => {
    const last = { until: 30 * MINUTE_MS, lastMs: 30 * MINUTE_MS, failedAt: 0, why: 'no capacity' };

    expect(nextBackoff(last, 'no capacity', 3 * HOUR_MS - 1).lastMs).toBe(30 * MINUTE_MS);
    expect(nextBackoff(last, 'no capacity', 3 * HOUR_MS).lastMs).toBe(5 * MINUTE_MS);
  });
});

it('a growth says since when the scheduler refused the first pod that it is for', async () => {
  const scene = await openNodesScene();
  scene.cloud.addGroup('grp', 'zone-a');
  await scene.define('h100', { existingInstanceGroupNames: ['grp'] });
  await scene.clock.advance(5 * SECOND_MS);
  const before = scene.clock.now();
  for (const at of [1, 2]) await scene.addPod(`p${at}`, 8);
  await scene.clock.advance(3 * SECOND_MS);

  const [row] = scene.store.view.nodeGroups.all();
  const [asked] = row?.asked ?? [];
  expect(asked?.neededSince).toBeGreaterThanOrEqual(before - SECOND_MS);
  expect(asked?.neededSince).toBeLessThanOrEqual(asked?.at ?? 0);
  expect(row?.asked).toHaveLength(1);
  await scene.stop();
});

it('a group that is not grown says whether no node is needed, or those before it suffice', async () => {
  const scene = await openNodesScene();
  for (const name of ['first', 'second']) scene.cloud.addGroup(name, 'zone-a');
  await scene.define('h100', { existingInstanceGroupNames: ['first', 'second'] });
  await scene.clock.advance(5 * SECOND_MS);
  const whyNot = () => scene.nodes.plan('h100')?.alternatives.map((one) => one.whyNot);

  expect(whyNot()).toEqual(['no more nodes are needed', 'no more nodes are needed']);
  await scene.freeze();
  await scene.addPod('p', 8);
  await scene.clock.advance(MINUTE_MS);
  expect(whyNot()).toEqual(['groups before it suffice']);
  await scene.stop();
});
