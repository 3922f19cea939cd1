// What both peers do of their own accord: nodes for tasks that wait, and none that has been empty for some time.
import type { Fleet, Policy } from './fleet.ts';
import { missingNodes } from './missing-nodes.ts';

export function removeWhenEmpty(name: string, emptyMs: number, rhythm: Pick<Policy, 'afterMs' | 'everyMs'>): Policy {
  return {
    name,
    ...rhythm,
    look(fleet: Fleet) {
      const empty = [...fleet.nodes].filter(({ isReady, tasks }) => isReady && tasks.size === 0);
      for (const node of empty) if (fleet.nowMs() - node.emptySinceMs >= emptyMs) fleet.remove(node);
      fleet.ask(missingNodes(fleet));
      const due = empty.filter((node) => fleet.nodes.has(node)).map(({ emptySinceMs }) => emptySinceMs + emptyMs);
      return due.length > 0 ? Math.min(...due) : undefined;
    },
  };
}

/** Scans every ten seconds; `scale-down-unneeded-time` is ten minutes. */
export const clusterAutoscaler = (): Policy =>
  removeWhenEmpty('Cluster Autoscaler, empty for 10 min', 600_000, { afterMs: 0, everyMs: 10_000 });

/** Gathers pods until none has come for a second; `consolidateAfter` of 30 seconds. */
export const karpenter = (): Policy => removeWhenEmpty('Karpenter, empty for 30 s', 30_000, { afterMs: 1_000 });
