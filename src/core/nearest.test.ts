import { describe, expect, it } from 'vitest';
import { nearest } from './nearest.ts';

describe('nearest', () => {
  const known = ['max_agents', 'min_agents', 'max_idle_agents', 'idle_decay', 'mode'];

  it.each([
    ['max_agnets', 'max_agents'],
    ['maxAgents', 'max_agents'],
    ['max-agents', 'max_agents'],
    ['idleDecay', 'idle_decay'],
    ['idel_decay', 'idle_decay'],
    ['modes', 'mode'],
    ['max_idle_agent', 'max_idle_agents'],
  ])('takes %s for %s', (written, meant) => {
    expect(nearest(written, known)).toBe(meant);
  });

  it.each(['replicas', 'x', '', 'completely_different'])('has no idea what %j was meant to be', (written) => {
    expect(nearest(written, known)).toBeUndefined();
  });
});
