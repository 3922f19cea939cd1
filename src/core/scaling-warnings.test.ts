import { describe, expect, it } from 'vitest';
import type { Scaling } from './pool.ts';
import { scalingWarnings } from './scaling-warnings.ts';
import { someScaling } from './testing/pool.ts';

const offers = [{ id: 'o', kind: 'memory', config: {} }];
const namesOf = (scaling: Partial<Scaling>, backends = offers): string[] =>
  scalingWarnings({ offers: backends, scaling: someScaling({ maxAgents: 10, ...scaling }) }).map(({ name }) => name);

describe('warnings about the limits of a pool', () => {
  it('min_idle_agents with no room for a further idle worker is warned of, since each session launches one', () => {
    expect(namesOf({ minIdleSlots: 1, maxIdleSlots: 1, idleDecayMs: 60_000 })).toEqual(['min_idle_agents']);
    expect(namesOf({ minIdleSlots: 4, maxIdleSlots: 7, slotsPerAgent: 4, idleDecayMs: 0 })).toEqual([
      'min_idle_agents',
    ]);
    expect(namesOf({ minIdleSlots: 4, maxIdleSlots: 8, slotsPerAgent: 4, idleDecayMs: 60_000 })).toEqual([]);
  });

  it('idle_decay is warned of where no idle worker may stay', () => {
    const scaling = someScaling({ maxAgents: 10, minIdleSlots: 0, maxIdleSlots: 0, idleDecayMs: 60_000 });
    expect(scalingWarnings({ offers, scaling })).toEqual([
      {
        key: 'idleDecay',
        name: 'idle_decay',
        message:
          '1m has no effect: with max_idle_agents 0 workers are removed as soon as they are idle; set max_idle_agents to 1 or more, or idle_decay to 0s',
      },
    ]);
    expect(namesOf({ maxIdleSlots: 1, idleDecayMs: 60_000 })).toEqual([]);
    expect(namesOf({ maxIdleSlots: 0, idleDecayMs: 0 })).toEqual([]);
  });

  it('max_idle_agents is warned of where idle_decay of 0s removes every worker that becomes idle', () => {
    expect(namesOf({ minIdleSlots: 0, maxIdleSlots: 3, idleDecayMs: 0 })).toEqual(['max_idle_agents']);
    expect(namesOf({ minIdleSlots: 1, maxIdleSlots: 3, idleDecayMs: 0 })).toEqual(['max_idle_agents']);
  });

  it('limits of a pool without a backend are warned of once', () => {
    expect(namesOf({ minIdleSlots: 1, maxIdleSlots: 1 }, [])).toEqual(['max_agents']);
    expect(namesOf({ maxAgents: 0, minIdleSlots: 2, maxIdleSlots: 2 }, [])).toEqual(['min_idle_agents']);
    expect(namesOf({ maxAgents: 0, minIdleSlots: 0, maxIdleSlots: 0 }, [])).toEqual([]);
  });

  it('a pool whose size never changes gets no warning', () => {
    expect(namesOf({ minAgents: 3, maxAgents: 3, minIdleSlots: 1, maxIdleSlots: 1 })).toEqual([]);
    expect(namesOf({ maxAgents: 2, minIdleSlots: 2, maxIdleSlots: 2 })).toEqual([]);
    expect(namesOf({ maxAgents: 0, maxIdleSlots: 0, idleDecayMs: 60_000 })).toEqual([]);
    expect(namesOf({ mode: 'batch', minIdleSlots: 1, maxIdleSlots: 1 })).toEqual([]);
  });
});
