import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Quantities, type TargetLimits, targetSize } from './target.ts';

const NO_LIMITS: TargetLimits = { minNodes: 0, mostNodes: 10_000 };

/** Nodes that are used as a whole, as in the examples of the specification. */
function wholeNodes(nodes: number, used: number, limits: Partial<TargetLimits>, gpusPerNode = 8): number {
  const quantities = {
    gpusPerNode,
    used: used * gpusPerNode,
    pending: 0,
    pendingPods: 0,
    leavingPods: 0,
    nodes,
    missing: 0,
    busy: used,
  };
  return targetSize(quantities, { ...NO_LIMITS, ...limits }).nodes;
}

const AT_REST: Quantities = {
  gpusPerNode: 8,
  used: 0,
  pending: 0,
  pendingPods: 0,
  leavingPods: 0,
  nodes: 0,
  missing: 0,
  busy: 0,
};

describe('the target', () => {
  it.each([
    ['A: 120 nodes, 80 of them used', 120, 80, 100],
    ['B: after the delay 60 are used', 120, 60, 75],
    ['C: before the delay 88 are used', 120, 88, 110],
    ['a utilisation in the band changes nothing', 100, 80, 100],
  ])('%s: the largest size that is still used by 80 percent', (_what, nodes, used, target) => {
    expect(wholeNodes(nodes, used, { minPercent: 80 })).toBe(target);
  });

  it('keeps two idle nodes where nothing is used', () => {
    expect(wholeNodes(10, 0, { minPercent: 80, buffer: 2 })).toBe(2);
  });

  it('follows the idle nodes alone in both directions', () => {
    expect(wholeNodes(3, 3, { buffer: 2 })).toBe(5);
    expect(wholeNodes(10, 3, { buffer: 2 })).toBe(5);
  });

  it('keeps every node that has a pod with GPUs, however little is used', () => {
    const quantities = { ...AT_REST, nodes: 10, used: 10, busy: 10 };

    expect(targetSize(quantities, { ...NO_LIMITS, minPercent: 80 }).nodes).toBe(10);
  });

  it('makes room before pods wait, where the utilisation is above its ceiling', () => {
    const quantities = { ...AT_REST, nodes: 10, used: 73, busy: 10 };

    expect(targetSize(quantities, { ...NO_LIMITS, maxPercent: 90 })).toMatchObject({
      nodes: 11,
      reason: { code: 'max-utilization' },
    });
  });

  it('stays at the ceiling where no size satisfies both percentages', () => {
    const limits = { ...NO_LIMITS, minPercent: 80, maxPercent: 90 };
    const quantities = { ...AT_REST, used: 8, busy: 1 };

    expect(targetSize({ ...quantities, nodes: 1 }, limits).nodes).toBe(2);
    expect(targetSize({ ...quantities, nodes: 2 }, limits).nodes).toBe(2);
  });

  it('never shrinks while pods wait', () => {
    const quantities = { ...AT_REST, nodes: 10, pending: 1, pendingPods: 1 };

    expect(targetSize(quantities, { ...NO_LIMITS, minPercent: 80 }).nodes).toBe(10);
  });

  it('does nothing where nobody set a percentage or a number of idle nodes', () => {
    expect(wholeNodes(10, 0, {})).toBe(10);
  });

  it('says which cap keeps it small, and what it would be', () => {
    const quantities = { ...AT_REST, nodes: 10, missing: 5, pending: 40, pendingPods: 5, leavingPods: 0, busy: 15 };

    expect(targetSize(quantities, { ...NO_LIMITS, mostNodes: 12 })).toMatchObject({
      nodes: 12,
      uncapped: 15,
      reason: { code: 'most-nodes' },
    });
  });
});

const limitsOf = fc.record({
  minPercent: fc.option(fc.integer({ min: 1, max: 89 }), { nil: undefined }),
  maxPercent: fc.option(fc.integer({ min: 90, max: 100 }), { nil: undefined }),
  buffer: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  minNodes: fc.integer({ min: 0, max: 5 }),
  mostNodes: fc.constant(10_000),
});

/** Some load on some nodes, with no more than their GPUs in use. */
const loads = fc
  .record({
    gpusPerNode: fc.constantFrom(1, 4, 8),
    busy: fc.integer({ min: 0, max: 200 }),
    spare: fc.integer({ min: 0, max: 200 }),
    share: fc.integer({ min: 1, max: 100 }),
  })
  .map(({ gpusPerNode, busy, spare, share }): Quantities => {
    const used = Math.max(busy, Math.floor((busy * gpusPerNode * share) / 100));
    return { gpusPerNode, used, pending: 0, pendingPods: 0, leavingPods: 0, nodes: busy + spare, missing: 0, busy };
  });

describe('a constant load', () => {
  it('converges in one step and stays there', () => {
    fc.assert(
      fc.property(loads, limitsOf, (load, limits) => {
        const first = targetSize(load, limits).nodes;

        expect(targetSize({ ...load, nodes: first }, limits).nodes).toBe(first);
      }),
      { numRuns: 5_000 },
    );
  });

  it('never gets fewer nodes than the busy ones and the idle ones that are to be kept', () => {
    fc.assert(
      fc.property(loads, limitsOf, (load, limits) => {
        expect(targetSize(load, limits).nodes).toBeGreaterThanOrEqual(
          Math.min(load.busy + (limits.buffer ?? 0), limits.mostNodes),
        );
      }),
    );
  });

  it('is not shrunk below what its ceiling allows', () => {
    fc.assert(
      fc.property(loads, limitsOf, (load, limits) => {
        const { nodes } = targetSize(load, limits);
        if (limits.maxPercent === undefined) return;

        expect(load.used * 100).toBeLessThanOrEqual(limits.maxPercent * load.gpusPerNode * nodes);
      }),
    );
  });
});
