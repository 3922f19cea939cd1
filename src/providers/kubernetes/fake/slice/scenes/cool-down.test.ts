import { describe, expect, it } from 'vitest';
import { HOUR_MS, SECOND_MS } from '#core/clock.ts';
import { openKubeWorld } from './testing.ts';

const MANY = 1e9;
const UNAVAILABLE = { kind: 'error', code: 'ServiceUnavailable', status: 503 } as const;

describe('an offer of pods whose launch was not answered', () => {
  it.each([
    ['after some pods were made', 5],
    ['before any pod was made', 0],
  ])('because the API server went away %s launches the others as soon as it answers again', async (_, after) => {
    const world = await openKubeWorld();
    const mend = world.fake.failureRules.add({ action: 'create pods', after, times: MANY, what: UNAVAILABLE });
    world.apply('gpu', { scaler: { min_idle_agents: 8, max_idle_agents: 8, max_agents: 8 } });
    await world.clock.advance(8 * SECOND_MS);
    const during = world.pods('gpu').length;

    mend();
    await world.clock.advance(25 * SECOND_MS);

    expect(during).toBe(after);
    expect(world.pods('gpu')).toHaveLength(8);
    expect(world.condition('gpu', 'BackendHealthy')).toContain('True');
  });

  it('because our own server was killed in the middle of it launches the others at once', async () => {
    const world = await openKubeWorld();
    // An agent that joins would end a cool-down.
    world.fake.kubelet.rules.add({ startMs: HOUR_MS });
    world.fake.failureRules.add({ action: 'create pods', after: 5, times: MANY, what: { kind: 'hang' } });
    world.apply('gpu', { scaler: { min_idle_agents: 8, max_idle_agents: 8, max_agents: 8 } });
    await world.clock.advance(5 * SECOND_MS);
    const during = world.pods('gpu').length;

    world.fake.failureRules.clear();
    world.restart();
    await world.clock.advance(20 * SECOND_MS);

    expect(during).toBe(5);
    expect(world.pods('gpu')).toHaveLength(8);
  });

  it('because the API server stays away is not asked each second for ever', async () => {
    const world = await openKubeWorld();
    world.fake.failureRules.add({ action: 'create pods', times: MANY, what: UNAVAILABLE });
    world.apply('gpu', { scaler: { min_idle_agents: 1, max_idle_agents: 1 } });
    await world.clock.advance(600 * SECOND_MS);
    world.calls([]);

    await world.clock.advance(600 * SECOND_MS);

    expect(world.calls(['create']).filter((call) => call.includes('pods')).length).toBeLessThan(100);
  });
});
